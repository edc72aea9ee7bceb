"""Programs and operations read NumPy arrays before a call returns: later writes do not show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
import dovetail.scipy.signal
from dovetail import lax

SIZES = (8, 30_000)


def buffer(size: int, offset: int, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    """Memory at so many bytes from a multiple of 64, at which runtimes share it."""
    count = size * np.dtype(dtype).itemsize
    whole = np.zeros(count + 128, np.uint8)
    start = -whole.ctypes.data % 64 + offset
    return whole[start : start + count].view(dtype)


def late(x: Any, *more: Any) -> Any:
    """The sum of the arguments, taken after a long loop."""
    slow = lax.fori_loop(0, 50, lambda _, s: dnp.sin(s) + 1e-6, dnp.zeros(20_000))
    return sum(more, x * 1) + (slow[0] * 0).astype(dnp.result_type(x))


def written_meanwhile(f: Callable[[Any], Any], given: np.ndarray[Any, Any]) -> list[Any]:
    """The last element of what ``f`` returned for 0, 1, ..., which were written in turn."""
    result: list[Any] = []
    for i in range(5):
        given.fill(i)
        result.append(f(given))
    given.fill(99)
    return [np.asarray(x).ravel()[-1].item() for x in result]


@pytest.mark.parametrize("offset", [0, 16])
@pytest.mark.parametrize("size", SIZES)
def test_arguments_of_compiled_functions(size: int, offset: int) -> None:
    f = dovetail.jit(late)
    assert written_meanwhile(f, buffer(size, offset)) == [0, 1, 2, 3, 4]
    x = dnp.zeros(size)
    assert written_meanwhile(lambda a: f(x, a), buffer(size, offset)) == [0, 1, 2, 3, 4]
    tree = dovetail.jit(lambda t: late(t["a"][0]))
    assert written_meanwhile(lambda a: tree({"a": [a]}), buffer(size, offset)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("dtype", [np.int32, np.float64, np.float16])
def test_other_types(dtype: Any) -> None:
    assert written_meanwhile(dovetail.jit(late), buffer(3000, 0, dtype)) == [0, 1, 2, 3, 4]


def test_views_and_shapes() -> None:
    f = dovetail.jit(lambda x: late(x))
    given = buffer(3000, 0)
    assert written_meanwhile(lambda a: f(a[::-1]), given) == [0, 1, 2, 3, 4]
    assert written_meanwhile(lambda a: f(a.reshape(30, 100).T), given) == [0, 1, 2, 3, 4]
    assert written_meanwhile(lambda a: f(a[0:1].reshape(())), given) == [0, 1, 2, 3, 4]
    assert written_meanwhile(lambda a: f(a[:0]).sum() + a[0], given) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("size", SIZES)
def test_operations(size: int) -> None:
    busy = dovetail.jit(late)
    for operation in (
        lambda a: dnp.add(a, 0),
        dnp.sin,
        dnp.asarray,
        dnp.array,
        dovetail.device_put,
    ):

        def f(a: Any, operation: Any = operation) -> Any:
            busy(1.0)  # it keeps the device
            return operation(a)

        expected = [operation(np.float32(i)).item() for i in range(5)]
        for _ in range(3):  # the first calls of an operation are made in other ways
            assert written_meanwhile(f, buffer(size, 0)) == pytest.approx(expected, rel=1e-6)


def test_transformed_and_compiled_ahead() -> None:
    given = buffer(3000, 0)
    assert written_meanwhile(dovetail.vmap(dovetail.jit(late)), given) == [0, 1, 2, 3, 4]
    assert written_meanwhile(dovetail.jit(dovetail.vmap(late)), given) == [0, 1, 2, 3, 4]
    ahead = dovetail.jit(late).lower(given).compile()
    assert written_meanwhile(ahead, given) == [0, 1, 2, 3, 4]
    slope = dovetail.jit(dovetail.grad(lambda x: dnp.sum(late(x) ** 2) / 2))
    assert written_meanwhile(slope, given) == [0, 1, 2, 3, 4]


@pytest.mark.usefixtures("optimized")
def test_what_a_function_closes_over_is_copied_once() -> None:
    mine = np.ones(50_000, np.float32)
    f = dovetail.jit(lambda x, y: late(x) + mine[: x.size] * y)
    assert written_meanwhile(lambda a: f(a, 1.0), buffer(3000, 0)) == [1, 2, 3, 4, 5]
    x = dnp.zeros(3000)
    assert [f(x, 1.0)[0].item() for _ in range(3)] == [1, 1, 1]
    window = dovetail.scipy.signal.istft(np.ones((65, 24), np.complex64))
    again = dovetail.scipy.signal.istft(np.ones((65, 24), np.complex64))
    np.testing.assert_array_equal(window[1], again[1])


def test_typed_keys_beside_them() -> None:
    key = dovetail.random.key(0)
    f = dovetail.jit(lambda k, a: (late(a), k))
    assert written_meanwhile(lambda a: f(key, a)[0], buffer(3000, 0)) == [0, 1, 2, 3, 4]


def test_calls_stay_in_cpp_and_ask_for_the_copy_alone() -> None:
    traced: list[int] = []
    f = dovetail.jit(lambda x, y: (traced.append(1), x + y)[1])
    x = np.ones(8, np.float32)
    assert [f(x * i, 1.0)[0].item() for i in range(5)] == [1, 2, 3, 4, 5]
    assert traced == [1]
    # Narrowed where 64 bits are off, as the first call does.
    assert f(np.full(8, 1e300), 1.0)[0].item() == np.inf
    assert f(np.full(8, 1e300), 1.0)[0].item() == np.inf
