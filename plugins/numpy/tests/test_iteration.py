"""Iterating over arrays: rows are arrays like ``x[i]``, and no program grows with their number."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_backends import backend, device_put
from dovetail_batching import vmap
from dovetail_jit import jit, make_jaxpr
from dovetail_numpy.arrays import iteration
from dovetail_numpy.arrays.iteration import CHUNK, rows

SIZES = [0, 1, 3, CHUNK, CHUNK + 1, 3 * CHUNK, 1000]
DTYPES = [np.bool_, np.int8, np.uint16, np.int32, np.float16, np.float32, np.complex64]
DTYPES += [ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn, ml_dtypes.int4]


@pytest.fixture(params=["host", "device", "often"])
def either(request: Any, monkeypatch: pytest.MonkeyPatch) -> str:
    """Arrays whose memory is the host's, those of which it is not, and those that come often."""
    monkeypatch.setattr(iteration, "OFTEN", 0 if request.param == "often" else 1000)
    if request.param == "device":
        monkeypatch.setattr(iteration, "rows_on_host", lambda x: None)
    return request.param


@pytest.mark.parametrize("n", SIZES)
def test_rows_in_order(n: int, either: str) -> None:
    x = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    result = list(dnp.asarray(x))
    assert len(result) == n and all(isinstance(r, dnp.ndarray) for r in result)
    np.testing.assert_array_equal(np.asarray(result).reshape(n, 2), x)
    backwards = [np.asarray(r) for r in reversed(dnp.asarray(x))]
    np.testing.assert_array_equal(np.asarray(backwards).reshape(n, 2), x[::-1])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
def test_rows_have_the_type_and_place_of_elements(
    dtype: Any, shape: tuple[int, ...], either: str
) -> None:
    values = (np.arange(6)[: int(np.prod(shape))].reshape(shape) % 2).astype(dtype)
    for x in (dnp.asarray(values), device_put(values, backend("cpu").local_devices()[0])):
        for i, row in enumerate(x):
            assert row.aval is x[i].aval and row.committed == x[i].committed
            assert row.sharding == x[i].sharding
            np.testing.assert_array_equal(np.asarray(row), values[i])


def test_weak_types_stay_weak(either: str) -> None:
    x = make_weak()
    assert x.aval.weak_type and all(r.aval is x[0].aval for r in x)


def make_weak() -> Any:
    return lax.broadcast(dnp.asarray(1.0), (3,))


def test_rows_are_independent_of_the_array(either: str) -> None:
    x = dnp.arange(6.0).reshape(3, 2)
    first, second, third = x
    x.delete()
    np.testing.assert_array_equal(second, [2.0, 3.0])
    np.testing.assert_array_equal(np.asarray(first) + np.asarray(third), [4.0, 6.0])


def test_the_first_rows_alone_are_cut(either: str) -> None:
    x = dnp.zeros((2_000_000,), np.int8)
    assert next(iter(x)).shape == ()
    (program,) = [make_jaxpr(lambda x: next(iter(x)))(x)]
    assert sum(len(e.outvars) for e in program.eqns) <= CHUNK + 1


@pytest.mark.parametrize("n", [3, 2 * CHUNK + 1])
def test_under_transformations(n: int) -> None:
    x = np.linspace(0, 1, n, dtype=np.float32)

    def f(x: Any) -> Any:
        total = 0.0
        for i, v in enumerate(x):
            if i % 50 in (0, 2):
                total = total + v * v
        return total

    weights = np.array([i % 50 in (0, 2) for i in range(n)], np.float32)
    np.testing.assert_allclose(jit(f)(x), (weights * x * x).sum(), rtol=1e-5)
    np.testing.assert_allclose(grad(f)(dnp.asarray(x)), 2 * weights * x, rtol=1e-6)
    np.testing.assert_allclose(vmap(f)(np.stack([x, 2 * x]))[1], f(2 * x), rtol=1e-5)
    widest = max(len(e.outvars) for e in make_jaxpr(lambda x: list(x))(x).eqns)
    assert widest <= CHUNK


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_unstacking_many(axis: int) -> None:
    x = np.arange(6 * CHUNK, dtype=np.int32).reshape(2 * CHUNK, 3)
    result = dnp.unstack(dnp.asarray(x), axis=axis)
    np.testing.assert_array_equal(np.stack(result), np.moveaxis(x, axis, 0))


def test_arrays_of_a_type_that_comes_often_are_cut_by_one_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[Any] = []
    before = iteration.rows_on_host
    monkeypatch.setattr(iteration, "rows_on_host", lambda x: asked.append(x) or before(x))
    x = dnp.arange(37.0)
    for _ in range(iteration.OFTEN + 5):
        assert [float(v) for v in x] == list(range(37))
    assert len(asked) == iteration.OFTEN


def test_many_rows_compile_nothing() -> None:
    x = dnp.arange(20_000)
    result = list(x)
    assert len(result) == 20_000 and int(result[-1]) == 19_999


def test_an_array_without_axes_is_refused_at_once() -> None:
    with pytest.raises(TypeError, match=r"iteration over an array without .* at .*test_iter"):
        rows(dnp.asarray(1.0))
