"""Hooks: implementations by plugins, their order, and modules that do not work."""

from __future__ import annotations

import re

import pytest

from dovetail_core import PluginError, hookimpl
from dovetail_hooks import Hooks, has_hooks, manager


def hooks(site, name: str, source: str):
    site.plugin(name, f"hooks='{name}_hooks'")
    site.module(f"{name}_hooks", f"from dovetail_core import hookimpl\n\n\n{source}")


def test_every_hook_has_a_specification_with_a_docstring():
    specified = [n for n in vars(Hooks) if n.startswith("dovetail_")]
    assert set(specified) == {
        "dovetail_compile",
        "dovetail_compile_options",
        "dovetail_traced",
        "dovetail_lowered",
        "dovetail_compiled",
        "dovetail_not_cached",
        "dovetail_environment",
    }
    assert all(getattr(Hooks, n).__doc__ for n in specified)
    assert hookimpl.project_name == "dovetail"


def test_nothing_is_called_where_nobody_implements(site):
    assert not has_hooks("dovetail_traced")
    told = {"name": "f", "program": None, "seconds": 0.0, "function": None, "signature": None}
    assert manager().hook.dovetail_traced(**told) == []


def test_hooks_of_active_plugins_are_called(site):
    hooks(
        site,
        "acme",
        "SEEN = []\n\n\n@hookimpl\ndef dovetail_lowered(name, seconds):\n"
        "    SEEN.append((name, seconds))\n",
    )
    assert has_hooks("dovetail_lowered") and not has_hooks("dovetail_traced")
    manager().hook.dovetail_lowered(name="f", module="...", seconds=0.5, program=None)
    import acme_hooks

    assert acme_hooks.SEEN == [("f", 0.5)]


def test_ordering_and_first_results_are_pluggys(site):
    for name, mark in {"one": "tryfirst=True", "two": ""}.items():
        hooks(
            site,
            name,
            f"@hookimpl({mark})\ndef dovetail_compile_options(platform):\n"
            f"    return {{'by': {name!r}}}\n"
            f"@hookimpl({mark})\ndef dovetail_compile(module):\n    return {name!r}\n",
        )
    hook = manager().hook
    assert [o["by"] for o in hook.dovetail_compile_options(platform="cpu")] == ["one", "two"]
    assert hook.dovetail_compile(module="", platform="cpu", options={}) == "one"


@pytest.mark.parametrize(
    ("source", "problem"),
    [
        ("import not_there", "ModuleNotFoundError: No module named 'not_there'"),
        ("@hookimpl\ndef dovetail_tracd(name): ...\n", "unknown hook 'dovetail_tracd'"),
        ("@hookimpl\ndef dovetail_traced(nonsense): ...\n", "nonsense"),
    ],
)
def test_hooks_that_do_not_work_are_set_aside(site, monkeypatch, source, problem):
    hooks(site, "acme", source)
    hooks(site, "good", "@hookimpl\ndef dovetail_environment():\n    return {'a': 'b'}\n")
    with pytest.warns(RuntimeWarning) as caught:
        assert manager().hook.dovetail_environment() == [{"a": "b"}]
    text = str(caught[0].message)
    assert text.startswith(
        "the hooks of plugin 'acme' of acme-dist 1.0 (acme_hooks) are set aside: "
    )
    assert problem in text and "disable the plugin (DOVETAIL_DISABLE_PLUGINS)" in text
    monkeypatch.setenv("DOVETAIL_STRICT", "1")
    manager.cache_clear()
    with pytest.raises(PluginError, match="the hooks of plugin 'acme'"):
        manager()


def test_disabled_plugins_have_no_hooks(site, monkeypatch):
    hooks(site, "acme", "raise SystemError")
    monkeypatch.setenv("DOVETAIL_DISABLE_PLUGINS", "acme")
    assert not has_hooks("dovetail_environment")


RAISES = """
CALLS = []

@hookimpl
def dovetail_environment():
    CALLS.append(1)
    {}
"""
SAID = (
    "the hook 'dovetail_environment' of plugin 'acme' of acme-dist 1.0 (acme_hooks:7) is "
    "set aside: "
)


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ("1 / 0", "ZeroDivisionError: division by zero"),
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("return [1]", "TypeError: it returned a list, not a mapping"),
        ("class E(Exception):\n        __str__ = None\n    raise E", "E: (it cannot be printed)"),
    ],
)
def test_a_hook_that_fails_is_set_aside_and_not_called_again(site, monkeypatch, body, problem):
    hooks(site, "acme", RAISES.format(body))
    hooks(site, "good", "@hookimpl\ndef dovetail_environment():\n    return {'a': 'b'}\n")
    with pytest.warns(RuntimeWarning) as caught:
        for _ in range(3):
            assert manager().hook.dovetail_environment() == [{"a": "b"}]
    assert [str(w.message) for w in caught] == [
        f"{SAID}{problem}. Fix it, or disable the plugin (DOVETAIL_DISABLE_PLUGINS)."
    ]
    import acme_hooks

    assert acme_hooks.CALLS == [1]
    monkeypatch.setenv("DOVETAIL_STRICT", "true")
    manager.cache_clear()
    with pytest.raises(PluginError, match=re.escape(SAID + problem)):
        manager().hook.dovetail_environment()


def test_interrupts_in_hooks_pass(site):
    hooks(site, "acme", RAISES.format("raise KeyboardInterrupt"))
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            manager().hook.dovetail_environment()


WRAPPERS = {
    "before": "1 / 0\n    return (yield)",
    "after": "found = yield\n    1 / 0",
    "twice": "yield\n    yield",
    "never": "if False:\n        yield",
}


@pytest.mark.parametrize("where", WRAPPERS)
@pytest.mark.parametrize("kind", ["wrapper", "hookwrapper"])
def test_a_wrapper_that_fails_leaves_what_the_others_return(site, where, kind):
    mark = f"@hookimpl({kind}=True)\ndef dovetail_compile(module):\n    {WRAPPERS[where]}\n"
    hooks(site, "acme", mark)
    hooks(site, "good", "@hookimpl\ndef dovetail_compile(module):\n    return 'good'\n")
    call = manager().hook.dovetail_compile
    with pytest.warns(RuntimeWarning, match="the hook 'dovetail_compile' of plugin 'acme'") as seen:
        for _ in range(2):
            assert call(module="", platform="cpu", options={}) == "good"
    assert len(seen) == 1


def test_a_wrapper_sees_and_may_answer_what_the_others_raise(site):
    hooks(
        site,
        "acme",
        "@hookimpl(wrapper=True)\ndef dovetail_compile(module):\n"
        "    try:\n        return (yield)\n    except KeyboardInterrupt:\n        return 'saved'\n",
    )
    hooks(site, "bad", "@hookimpl\ndef dovetail_compile(module):\n    raise KeyboardInterrupt\n")
    assert manager().hook.dovetail_compile(module="", platform="cpu", options={}) == "saved"
