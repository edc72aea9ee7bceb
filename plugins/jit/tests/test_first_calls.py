"""Small eager operations: computed by NumPy when first called, compiled when called again."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as jnp
from dovetail_backends import cpu, device_put, lower_module
from dovetail_backends.guards import transfer_guard
from dovetail_core import typeof
from dovetail_hooks import hookimpl, manager
from dovetail_jit import clear_caches
from dovetail_jit.call import module as lowering, request as requests
from dovetail_jit.options import interpret_first_calls, no_execution
from dovetail_jit.providers import background_compile, numpy_fallback
from dovetail_jit.providers.background_compile import waiting
from dovetail_random import bits, key, split


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Names of the programs that are lowered, with the option on and nothing remembered."""
    names: list[str] = []

    def watched(program: Any, platform: str, name: str, *args: Any, **kwargs: Any) -> Any:
        names.append(name)
        return lower_module(program, platform, name, *args, **kwargs)

    monkeypatch.setattr(lowering, "lower_module", watched)
    x = jnp.asarray(X)  # whatever this needs is compiled before
    del x
    clear_caches()
    with interpret_first_calls(1):
        yield names


X = np.arange(6, dtype=np.float32).reshape(2, 3)


@pytest.mark.parametrize(
    "f",
    [lambda x: x * x, lambda x: x > 2, lambda x: x.reshape(3, 2), lambda x: x[1], lambda x: x.T,
     lambda x: jnp.concatenate([x, x]), lambda x: x.at[0].set(1.0), lambda x: x.astype("int32")],
)  # fmt: skip
def test_the_second_call_is_compiled_and_gives_the_same(
    f: Callable[[Any], Any], lowered: list[str]
) -> None:
    x = jnp.asarray(X)
    first = f(x)
    assert not lowered
    second = f(x)
    _until(lambda: not waiting())
    assert lowered
    del lowered[:]
    np.testing.assert_array_equal(np.asarray(first), np.asarray(f(x)))
    assert not lowered
    assert typeof(first) == typeof(second) and first.sharding == second.sharding


def test_keys_are_split_and_drawn_from(lowered: list[str]) -> None:
    k = key(3)
    parts, drawn = split(k), bits(k, (5,))
    assert not lowered
    np.testing.assert_array_equal(bits(k, (5,)), drawn)
    np.testing.assert_array_equal(bits(split(k)[1], (5,)), bits(parts[1], (5,)))
    _until(lambda: not waiting())
    assert lowered


def test_results_keep_weak_types_and_places(lowered: list[str]) -> None:
    assert typeof(jnp.asarray(2) * 3).weak_type == typeof(jnp.asarray(2) * 3).weak_type
    device = cpu.BACKEND.devices()[0]
    first, second = (-device_put(X, device) for _ in range(2))
    assert first.committed and second.committed
    assert not (-jnp.asarray(X)).committed
    _until(lambda: not waiting())
    assert lowered == ["__mul__", "__neg__"]


def test_what_rounds_more_than_once_is_compiled(lowered: list[str]) -> None:
    jnp.exp(X)
    jnp.asarray(X).sum()
    assert len(lowered) == 2


def test_subnormal_numbers_are_zero_in_both_calls(lowered: list[str]) -> None:
    x = jnp.asarray(np.full(3, 1e-40, np.float32))
    assert not np.any(x * x) and not np.any(x + x) and lowered


def test_large_arrays_are_compiled_at_once(lowered: list[str]) -> None:
    x = jnp.asarray(np.ones((200, 200), np.float32))
    x + x
    assert lowered == ["__add__"]


class Watch:
    """Hears of programs that are compiled."""

    @hookimpl
    def dovetail_compiled(self, name: str) -> None:
        pass


def test_who_watches_sees_the_first_compilation(lowered: list[str]) -> None:
    watch = Watch()
    manager().register(watch)
    try:
        -jnp.asarray(X)
    finally:
        manager().unregister(watch)
    assert lowered == ["__neg__"]


def test_transfers_that_are_forbidden_do_not_happen(lowered: list[str]) -> None:
    x = jnp.asarray(X)
    with transfer_guard("disallow"):
        jnp.negative(x)
    assert len(lowered) == 1


def test_switched_off_it_is_compiled_at_once(lowered: list[str]) -> None:
    with interpret_first_calls(0):
        -jnp.asarray(X)
    assert lowered == ["__neg__"]


def test_how_many_calls_are_a_number(lowered: list[str]) -> None:
    x = jnp.asarray(X)
    with interpret_first_calls(3):
        for _ in range(3):
            jnp.negative(x)
        assert not lowered
        jnp.negative(x)
        _until(lambda: not waiting())
    assert len(lowered) == 1
    with pytest.raises(ValueError, match=r"interpret_first_calls.*expected a number of calls"):
        interpret_first_calls(-1).__enter__()


def test_errors_are_those_of_compiled_calls(lowered: list[str]) -> None:
    x = jnp.asarray(X)
    with no_execution(True), pytest.raises(RuntimeError, match="no_execution forbids it"):
        jnp.negative(x)
    assert not lowered
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        jnp.negative(x)


ONCE = """
import dovetail.numpy as jnp
from dovetail_backends import lower_module
from dovetail_jit.call import module as lowering

names = []


def watched(program, platform, name, *args, **kwargs):
    names.append(name)
    return lower_module(program, platform, name, *args, **kwargs)


lowering.lower_module = watched
x = jnp.ones((3, 4))
for _ in range(3):
    x.T, jnp.where(x > 0, x, x)
print(names)
"""


def test_what_a_process_does_first_is_compiled_once() -> None:
    """Rules of primitives that are being imported do not make it forget what it has compiled."""
    env = {**os.environ, "DOVETAIL_INTERPRET_FIRST_CALLS": "0"}
    done = subprocess.run([sys.executable, "-c", ONCE], capture_output=True, text=True, env=env)
    assert done.stdout.strip() == "['transpose', '__gt__', 'where']", done.stderr


def _until(happens: Callable[[], Any]) -> None:
    end = time.monotonic() + 60
    while not happens():
        assert time.monotonic() < end
        time.sleep(0.01)


def _compiled_quickly(f: Callable[[Any], Any], x: Any) -> bool:
    """Whether a call of ``f`` is repeated by C++: then Python computes nothing."""
    seen: list[Any] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numpy_fallback, "evaluate_exactly", lambda *given: seen.append(given))
        f(x)
    return not seen


def test_no_call_waits_for_the_compilation(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    executable_for = background_compile.executable_for

    def slow(*args: Any, **kwargs: Any) -> Any:
        may_go_on.wait(60)
        return executable_for(*args, **kwargs)

    monkeypatch.setattr(background_compile, "executable_for", slow)
    x = jnp.asarray(X)
    for _ in range(5):
        np.testing.assert_array_equal(-x, -X)
    assert not lowered
    (begun,) = waiting()
    may_go_on.set()
    _until(lambda: begun.is_over)
    np.testing.assert_array_equal(-x, -X)
    assert _compiled_quickly(lambda x: -x, x)
    assert lowered == ["__neg__"]


def test_what_is_called_often_is_compiled_at_once(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on = threading.Event()
    monkeypatch.setattr(background_compile, "executable_for", lambda *a, **k: may_go_on.wait(60))
    x = jnp.asarray(X)
    for _ in range(numpy_fallback.PATIENCE + 3):
        jnp.negative(x)
    assert waiting() and _compiled_quickly(jnp.negative, x)
    may_go_on.set()
    _until(lambda: not waiting())


def test_compilations_come_one_after_the_other(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    at_work, most = [0], [0]
    executable_for = background_compile.executable_for

    def watched(*args: Any, **kwargs: Any) -> Any:
        at_work[0] += 1
        most[0] = max(most[0], at_work[0])
        try:
            return executable_for(*args, **kwargs)
        finally:
            at_work[0] -= 1

    monkeypatch.setattr(background_compile, "executable_for", watched)
    x = jnp.asarray(X)
    for _ in range(2):
        for f in (jnp.negative, jnp.square, jnp.transpose, jnp.logical_not, jnp.ravel):
            f(x)
    _until(lambda: not waiting())
    assert len(lowered) == 5 and most == [1]


def test_a_compilation_that_failed_is_tried_by_who_calls(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(*args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("the compiler is gone")

    monkeypatch.setattr(background_compile, "executable_for", fails)
    x = jnp.asarray(X)
    jnp.negative(x)
    jnp.negative(x)
    _until(lambda: not waiting())
    monkeypatch.setattr(requests, "compile_uncached", fails)
    with pytest.raises(RuntimeError, match="the compiler is gone"):
        jnp.negative(x)


def test_the_thread_that_compiles_has_the_options_of_the_call(
    lowered: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []
    executable_for = background_compile.executable_for

    def watched(*args: Any, **kwargs: Any) -> Any:
        seen.append(interpret_first_calls.value)
        return executable_for(*args, **kwargs)

    monkeypatch.setattr(background_compile, "executable_for", watched)
    x = jnp.asarray(X)
    jnp.negative(x)
    jnp.negative(x)
    _until(lambda: not waiting())
    assert seen == [1]


AT_THE_END = """
import dovetail.numpy as jnp
from dovetail_jit.providers import background_compile

executable_for = background_compile.executable_for


def slow(*args, **kwargs):
    time.sleep(0.2)
    made = executable_for(*args, **kwargs)
    print("compiled", flush=True)
    return made


import time
background_compile.executable_for = slow
x = jnp.ones((3, 4))
for _ in range(6):
    x.T, -x, x > 0, x.reshape(12)
print(len(background_compile.waiting()), flush=True)
"""


def test_a_process_that_ends_waits_for_one_compilation() -> None:
    done = subprocess.run([sys.executable, "-c", AT_THE_END], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "4\ncompiled\n", "")
