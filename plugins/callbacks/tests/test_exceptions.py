"""What a callback raises reaches whoever calls the program or waits for it, as it was raised."""

from __future__ import annotations

import gc
import sys
import threading
import traceback
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_backends import block_until_ready, device_get
from dovetail_callbacks import debug, pure_callback
from dovetail_callbacks.experimental import io_callback
from dovetail_jit import ShapeDtypeStruct, api, effects_barrier, jit
from dovetail_xla import callbacks
from dovetail_xla.arrays import XlaRuntimeError

X = np.linspace(0.1, 1.0, 4, dtype=np.float32)
SCALAR = ShapeDtypeStruct((), np.float32)


class Own(Exception):
    """An exception of the user's."""


@pytest.fixture(autouse=True)
def waited() -> Iterator[None]:
    yield
    effects_barrier()


def raising(error: BaseException) -> Callable[..., Any]:
    def fails(*args: Any) -> Any:
        raise error

    return fails


def program(kind: str, f: Any) -> Callable[[Any], Any]:
    """A jitted function that calls ``f`` and waits."""
    body: dict[str, Callable[[Any], Any]] = {
        "pure": lambda x: pure_callback(f, SCALAR, x),
        "io": lambda x: io_callback(f, SCALAR, x),
        "ordered": lambda x: io_callback(f, SCALAR, x, ordered=True),
        "debug": lambda x: debug.callback(f, x),
        "in a loop": lambda x: lax.fori_loop(
            0, 3, lambda i, c: c + pure_callback(f, SCALAR, x), 0.0
        ),
    }
    call = jit(body[kind])

    def run(x: Any) -> Any:
        out = call(x)
        effects_barrier()
        return block_until_ready(out)

    return run


KINDS = ["pure", "io", "ordered", "debug", "in a loop"]
ERRORS = [KeyError("why", 3), Own("why"), KeyboardInterrupt(), SystemExit(3), StopIteration(2)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("error", ERRORS, ids=lambda e: type(e).__name__)
def test_the_exception_itself_is_raised(kind: str, error: BaseException) -> None:
    run = program(kind, raising(error))
    for _ in range(3):  # traced and compiled; then repeated
        with pytest.raises(type(error)) as caught:
            run(X)
        assert caught.value is error
        assert "fails" in {f.name for f in traceback.extract_tb(error.__traceback__)}
        assert error.__cause__ is None and error.__context__ is None


def test_what_a_result_is_checked_for_is_said_as_a_type_error() -> None:
    with pytest.raises(TypeError, match="returned f32\\[2\\] as leaf 0"):
        program("pure", lambda x: np.zeros(2, np.float32))(X)


def test_a_program_works_after_it_has_failed() -> None:
    @jit
    def f(x: Any) -> Any:
        return pure_callback(lambda v: 1 / v if v else raising(Own("zero"))(), SCALAR, x)

    for _ in range(3):
        assert f(np.float32(2)) == 0.5
        with pytest.raises(Own, match="zero"):
            f(np.float32(0)).block_until_ready()


def late(error: BaseException) -> Any:
    """The result of a program that fails while its caller goes on: its argument takes its time."""
    slow = jit(lambda x: lax.dot(lax.dot(lax.dot(x, x), x), x))
    f = jit(lambda x: pure_callback(raising(error), SCALAR, lax.reduce_sum_p.bind(x, axes=(0, 1))))
    x = np.ones((500, 500), np.float32)
    slow(x).block_until_ready()
    with pytest.raises(type(error)):
        f(x).block_until_ready()
    try:
        return f(slow(x))
    except type(error):  # it was quicker
        pytest.skip("the program did not run asynchronously")


READERS: dict[str, Callable[[Any], Any]] = {
    "block_until_ready": lambda x: x.block_until_ready(),
    "asarray": np.asarray,
    "float": float,
    "item": lambda x: x.item(),
    "tolist": lambda x: x.tolist(),
    "str": str,
    "device_get": device_get,
    "all": lambda x: block_until_ready([x]),
    "an operation": lambda x: lax.add(x, 1.0).block_until_ready(),
}


@pytest.mark.parametrize("reader", READERS)
def test_reading_a_result_raises_it(reader: str) -> None:
    error = Own("late")
    y = late(error)
    for _ in range(2):
        with pytest.raises(Own) as caught:
            READERS[reader](y)
        assert caught.value is error


def test_reading_again_raises_one_like_it() -> None:
    y = late(KeyError("late"))
    for _ in range(3):
        with pytest.raises(KeyError, match="late"):
            y.block_until_ready()


def test_only_so_many_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(callbacks, "MANY", 2)
    call = callbacks.checked_callback(raising(Own("old")), [])
    failures = []
    for _ in range(3):
        with pytest.raises(callbacks.CallbackFailed) as caught:
            call()
        failures.append(XlaRuntimeError(str(caught.value)))
    assert callbacks.exception_behind(failures[0]) is failures[0]
    assert all(isinstance(callbacks.exception_behind(e), Own) for e in failures[1:])
    other = XlaRuntimeError("something else")
    assert callbacks.exception_behind(other) is other


def test_of_programs_in_callbacks() -> None:
    error = Own("deep")
    inner = jit(lambda x: pure_callback(raising(error), SCALAR, x))

    def calls(x: Any) -> Any:
        return np.asarray(inner(x))

    with pytest.raises(Own) as caught:
        program("pure", calls)(X)
    assert caught.value is error

    def handles(x: Any) -> Any:
        try:
            return np.asarray(inner(x))
        except Own as e:
            raise KeyError("handled") from e

    with pytest.raises(KeyError, match="handled") as other:
        program("io", handles)(X)
    assert other.value.__cause__ is error


def test_threads_get_their_own() -> None:
    @jit
    def f(x: Any) -> Any:
        return pure_callback(lambda v: raising(Own(int(v)))(), SCALAR, x)

    wrong: list[Any] = []

    def work(k: int) -> None:
        for n in range(20):
            try:
                f(np.float32(100 * k + n)).block_until_ready()
            except Own as e:
                if e.args != (100 * k + n,):
                    wrong.append((k, n, e.args))
            else:
                wrong.append((k, n))

    threads = [threading.Thread(target=work, args=(k,)) for k in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


def test_nothing_is_kept_of_an_exception() -> None:
    class Big:
        pass

    refs: list[weakref.ref[Any]] = []

    def fails(x: Any) -> Any:
        big = Big()
        refs.append(weakref.ref(big))
        raise KeyError(big)

    f = jit(lambda x: pure_callback(fails, SCALAR, x))
    gc.disable()
    try:
        for _ in range(3):
            try:
                f(X).block_until_ready()
            except KeyError:
                continue
        assert len(refs) == 3 and all(r() is None for r in refs)
    finally:
        gc.enable()


def test_an_interrupt_before_the_first_instruction_of_a_callback_is_an_interrupt():
    call = callbacks.checked_callback(lambda: (), []).__code__
    f = jit(lambda x: pure_callback(lambda v: v, x, x))

    def in_call(frame: Any, event: str, _: Any) -> Any:
        if frame.f_code is call:
            raise KeyboardInterrupt
        return None

    before = sys.gettrace()
    sys.settrace(in_call)
    try:
        with pytest.raises(KeyboardInterrupt):
            f(X).block_until_ready()
    finally:
        sys.settrace(before)
    assert not callbacks.in_callback()
    np.testing.assert_array_equal(f(X), X)


def test_calls_that_c_repeats_raise_what_a_callback_raised(monkeypatch: pytest.MonkeyPatch):
    def positive(x: Any) -> Any:
        if x[0] < 0:
            raise Own("negative")
        return x.sum()

    call = jit(lambda x: pure_callback(positive, SCALAR, x) + 1)
    for _ in range(3):
        np.testing.assert_allclose(call(X), X.sum() + 1, rtol=1e-6)
    seen: list[Any] = []
    before = api.miss
    monkeypatch.setattr(api, "miss", lambda *args: (seen.append(args), before(*args))[1])
    call(X)
    for _ in range(2):
        with pytest.raises(Own, match="negative"):
            call(-X)
        np.testing.assert_allclose(call(X), X.sum() + 1, rtol=1e-6)
    # An exception makes C++ forget, so that the next call is one that it has not seen.
    assert len(seen) <= 2
    del seen[:]
    call(X)
    assert not seen
    call.clear_cache()
    call(X)
    assert seen


@pytest.mark.parametrize("kind", KINDS)
def test_as_errors_of_the_runtime(kind: str) -> None:
    error = Own("why")
    callbacks.report_as_runtime_errors()
    try:
        for _ in range(3):
            with pytest.raises(XlaRuntimeError, match=r"Own: why") as caught:
                program(kind, raising(error))(X)
            assert caught.value.__cause__ is error
        with pytest.raises(KeyboardInterrupt):
            program(kind, raising(KeyboardInterrupt()))(X)
    finally:
        callbacks.report_as_runtime_errors(False)
    with pytest.raises(Own):
        program(kind, raising(error))(X)


def test_at_once_as_errors_of_the_runtime() -> None:
    error = Own("why")
    callbacks.report_as_runtime_errors()
    try:
        for call in (pure_callback, io_callback):
            with pytest.raises(XlaRuntimeError, match=r"Own: why") as caught:
                call(raising(error), SCALAR, X)
            assert caught.value.__cause__ is error
        with pytest.raises(Own):
            debug.callback(raising(error), X)
    finally:
        callbacks.report_as_runtime_errors(False)
    with pytest.raises(Own):
        pure_callback(raising(error), SCALAR, X)
