"""What is asked of the cache within a process, and what is said where it cannot answer."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_callbacks import io_callback
from dovetail_core import config, hookimpl
from dovetail_hooks import manager
from dovetail_jit import jit
from dovetail_jit.options import cache_mode
from dovetail_services.disk_cache.options import cache_dir
from dovetail_services.source_cache import provider

X = np.float32(2)


class _Traced:
    def __init__(self) -> None:
        self.names: list[str] = []

    @hookimpl
    def dovetail_traced(self, name: str) -> None:
        if name == "f":
            self.names.append(name)


@pytest.fixture
def traced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The names of functions that are traced while there is a cache, whatever rules other tests in
    this process have added."""
    monkeypatch.setattr(provider, "generation", SimpleNamespace(value=0))
    monkeypatch.setattr(provider, "RuleTable", SimpleNamespace(instances=list))
    hear = _Traced()
    manager().register(hear)
    with cache_dir(str(tmp_path / "cache")):
        yield hear.names
    manager().unregister(hear)


def fresh(text: str, **given: Any) -> Any:
    """The function ``f`` of a program, as another process would have it."""
    space: dict[str, Any] = {"__name__": "users_program", "dnp": dnp, **given}
    exec(text, space)
    return space["f"]


def test_it_is_found_by_functions_with_the_same_code(traced: list[str]) -> None:
    text = "def f(x): return {'a': dnp.sin(x) * n, 'b': [x, None, (x,)]}"
    first = jit(fresh(text, n=2.0), cache="source")(X)
    assert traced == ["f"]
    again = jit(fresh(text, n=2.0), cache="source")(X)
    assert traced == ["f"]
    assert str(first) == str(again)
    assert jit(fresh(text, n=3.0), cache="source")(X)["a"] == 1.5 * first["a"]
    assert traced == ["f", "f"]
    for x in (np.int32(2), np.zeros(3, np.float32), 2.0):
        jit(fresh(text, n=2.0), cache="source")(x)
    assert len(traced) == 5


def test_the_option_asks_for_all(traced: list[str]) -> None:
    text = "def f(x): return dnp.cos(x)"
    with cache_mode("source"):
        jit(fresh(text))(X)
        jit(fresh(text))(X)
    assert traced == ["f"]
    jit(fresh(text))(X)
    assert traced == ["f", "f"]
    assert config.cache is None


def test_donated_and_static_arguments_and_what_is_closed_over(traced: list[str]) -> None:
    table = np.arange(100_000, dtype=np.float32)
    text = "def f(x, n): return x + table[:4] * n"
    for _ in range(2):
        for n in (2, 3):
            x = dnp.ones(4)
            call = jit(fresh(text, table=dnp.asarray(table)), static_argnums=1, donate_argnums=0,
                       cache="source")  # fmt: skip
            np.testing.assert_array_equal(call(x, n), 1 + n * table[:4])
            assert x.is_deleted()
    assert traced.count("f") == 2
    x = dnp.ones(4)
    with pytest.raises(ValueError, match=r"also .*donated"):
        jit(fresh("def f(x, y): return x + y"), donate_argnums=0, cache="source")(x, x)


class Pair(NamedTuple):
    a: Any
    b: Any


def test_named_tuples_come_back(traced: list[str]) -> None:
    for _ in range(2):
        out = jit(fresh("def f(x): return Pair(x, x + 1)", Pair=Pair), cache="source")(X)
        assert type(out) is Pair and out.b == 3
    assert traced == ["f"]


def test_programs_of_before_are_not_what_is_there_now(traced: list[str]) -> None:
    """A function that is called was traced when a global had another value."""
    space: dict[str, Any] = {"n": 1.0}
    inner = jit(fresh("def f(x): return x * box['n']", box=space))
    assert inner(X) == 2
    space["n"] = 5.0
    assert jit(fresh("def f(x): return g(x)", g=inner), cache="source")(X) == 10
    assert jit(fresh("def f(x): return g(x)", g=inner), cache="source")(X) == 10


def test_clear_cache_forgets_what_was_found(traced: list[str]) -> None:
    text = "def f(x): return dnp.tan(x)"
    jit(fresh(text), cache="source")(X)
    call = jit(fresh(text), cache="source")
    call(X)
    assert len(call._settings.known_programs) == 1
    call.clear_cache()
    assert not call._settings.known_programs


def test_inside_of_a_trace_it_is_traced(traced: list[str]) -> None:
    inner = jit(fresh("def f(x): return dnp.exp(x)"), cache="source")
    np.testing.assert_allclose(jit(lambda x: inner(x) + 1)(X), np.exp(X) + 1, rtol=1e-6)


def test_what_is_refused_is_explained(
    traced: list[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    lock = threading.Lock()
    table = tmp_path / "table.txt"
    table.write_text("3")

    def read(x: Any) -> Any:
        return x * helper(table)

    def helper(path: Path) -> Any:
        return np.float32(np.genfromtxt(path))

    def prints(x: Any) -> Any:
        return io_callback(lambda x: x, x, x)

    with caplog.at_level(logging.WARNING), config.option("explain_cache_misses")(True):
        jit(fresh("def f(x): return x if lock else x", lock=lock), cache="source")(X)
        assert "f is traced" in caplog.text
        assert (
            "not found in the cache by its code: the global 'lock' of f of f: a value of type"
            in (caplog.text)
        )
        jit(read, cache="source")(X)
        assert "genfromtxt reads a file (name it: jit(..., reads=[path]))" in caplog.text
        jit(prints, cache="source")(X)
        assert "has other effects" in caplog.text
        caplog.clear()
        assert jit(read, cache="source", reads=[table])(X) == 6
        assert "not found" not in caplog.text
    assert jit(read, cache="source", reads=str(table))(X) == 6
    table.write_text("4")
    assert jit(read, cache="source", reads=table)(X) == 8


class Unseen:
    """Nobody may see what it has."""

    @property
    def __dict__(self) -> Any:  # type: ignore[override]
        raise KeyError("hidden")


def test_what_cannot_be_looked_at_is_traced(
    traced: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    f = fresh("def f(x): return x + isinstance(unseen, object)", unseen=Unseen())
    with caplog.at_level(logging.WARNING), config.option("explain_cache_misses")(True):
        assert jit(f, cache="source")(X) == 3
    assert traced == ["f"]
    assert "what it uses cannot be looked at (KeyError: 'hidden')" in caplog.text


def test_what_a_library_reads_is_noticed(
    traced: list[str], caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    other = tmp_path / "other.txt"
    other.write_text("1")
    f = fresh("def f(x): return x + read(path)", read=lambda p: np.float32(np.loadtxt(p)),
              path=str(other))  # fmt: skip
    with caplog.at_level(logging.WARNING), config.option("explain_cache_misses")(True):
        jit(f, cache="source", reads=[tmp_path / "none.txt"])(X)
        assert "it reads" in caplog.text and "No such file" in caplog.text
        (tmp_path / "none.txt").write_text("")
        caplog.clear()
        jit(f, cache="source", reads=[tmp_path / "none.txt"])(X)
        assert f"while it was traced, it opens {other}" in caplog.text


def test_unknown_caches() -> None:
    with pytest.raises(ValueError, match=r"cache='sauce' is not known.*: there is 'source'"):
        jit(lambda x: x, cache="sauce")
    with pytest.raises(TypeError, match="reads must be paths of files, got 3"):
        jit(lambda x: x, cache="source", reads=3)
    with pytest.raises(ValueError, match="expected None or a string"):
        cache_mode(3)


def test_without_a_folder_it_is_traced() -> None:
    assert jit(fresh("def f(x): return x + 1"), cache="source")(X) == 3
