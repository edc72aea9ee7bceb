"""The check of caches sees those of other libraries and dictionaries that are filled on a miss."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="module")
def check_caches(load_tool):
    return load_tool("check_caches")


def write(root: Path, text: str) -> None:
    folder = root / "plugins/alpha/dovetail_alpha"
    folder.mkdir(parents=True)
    (folder / "a.py").write_text(text)


CACHES = {
    "cache": "from functools import cache\n",
    "lru_cache": "import functools\n@functools.lru_cache(7)\ndef f(x): ...\n",
    "WeakKeyDictionary": "def f():\n    from weakref import WeakKeyDictionary\n",
    "weakref_lru_cache": "from jaxlib import x\nf = x.weakref_lru_cache(g)\n",
    "get": "_d: dict[int, int] = {}\ndef f(x):\n"
    "    y = _d.get(x)\n    if y is None:\n        y = _d[x] = g(x)\n    return y\n",
    "in": "_d = dict()\ndef f(x):\n    if x not in _d:\n        _d[x] = g(x)\n    return _d[x]\n",
    "except": "_d = {}\ndef f(x):\n    try:\n        return _d[x]\n    except KeyError:\n"
    "        y = g(x)\n        return _d.setdefault(x, y)\n",
}


@pytest.mark.parametrize("kind", CACHES)
def test_a_cache_is_found_and_named(tmp_path, capsys, check_caches, kind):
    write(tmp_path, CACHES[kind])
    assert check_caches.main(tmp_path, {}) == 1
    text = capsys.readouterr().out.strip()
    name = kind if "cache" in kind or "Weak" in kind else "_d"
    assert text.startswith("plugins/alpha/dovetail_alpha/a.py:")
    assert f": {name} is a cache that clear_caches does not know" in text
    assert len(text.splitlines()) == 1
    assert check_caches.main(tmp_path, {f"plugins/alpha/dovetail_alpha/a.py: {name}": "why"}) == 0


OTHERS = {
    "registry": "_d = {}\ndef register(name, x):\n    if name in _d:\n        raise ValueError\n"
    "    _d[name] = x\n",
    "default": "_d = {}\ndef register(name, x):\n    return _d.setdefault(name, x)\n",
    "lists": "_d = {}\ndef add(name, x):\n    _d.setdefault(name, []).append(x)\n",
    "counts": "_d = {}\ndef count(name):\n    _d[name] = _d.get(name, 0) + 1\n",
    "local": "def f(xs):\n    d = {}\n    for x in xs:\n        if x not in d:\n"
    "            d[x] = g(x)\n    return d\n",
    "ours": "from dovetail_core import Cache, cached\n_d = Cache()\ndef f(x):\n"
    "    if x not in _d:\n        _d[x] = g(x)\n    return _d[x]\n",
    "others": "from elsewhere import cache\nx = site.cache\n",
}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_cache_is_left_alone(tmp_path, capsys, check_caches, kind):
    write(tmp_path, OTHERS[kind])
    assert check_caches.main(tmp_path, {}) == 0 and capsys.readouterr().out == ""


def test_an_exception_that_nothing_needs_is_told(tmp_path, capsys, check_caches):
    write(tmp_path, "x = 1\n")
    assert check_caches.main(tmp_path, {"core/a.py: cache": "why"}) == 1
    assert "core/a.py: cache: an exception in" in capsys.readouterr().out


def test_every_exception_has_a_reason(check_caches):
    assert all(check_caches.ALLOWED.values())
