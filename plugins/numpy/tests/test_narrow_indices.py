"""Indices of types in which the length of an axis is no number, and index vectors of no element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail import grad, jit, ops, vmap

N = 300
X = np.random.default_rng(0).normal(size=N).astype(np.float32)
INDICES = {"int8": [-1, -128, 127, 5], "uint8": [200, 255, 3], "int16": [-1, -200, 299]}
ONTO = lax.ScatterDimensionNumbers((), (0,), (0,))
FROM = lax.GatherDimensionNumbers((), (0,), (0,))
RUNS: dict[str, Callable[[Any], Any]] = {
    "eager": lambda f: f,
    "jit": jit,
    "vmap": lambda f: lambda x, i: vmap(f, (None, 0))(x, i[None])[0],
}


def _start(i: Any) -> int:
    at = int(i[0])
    return min(max(at + N if at < 0 else at, 0), N - 2)


def _written(x: Any, at: Any, value: Any, add: bool = False) -> Any:
    out = x.copy()
    if add:
        np.add.at(out, at, value)
    else:
        out[at] = value
    return out


CASES: dict[str, tuple[Callable[[Any, Any], Any], Callable[[Any, Any], Any]]] = {
    "index": (lambda x, i: x[i], lambda x, i: x[i]),
    "one index": (lambda x, i: x[i[0]], lambda x, i: x[i[0]]),
    "take": (lambda x, i: dnp.take(x, i), lambda x, i: x[i]),
    "take clip": (
        lambda x, i: dnp.take(x, i, mode="clip"), lambda x, i: x[np.clip(i, 0, N - 1)]),
    "take wrap": (lambda x, i: dnp.take(x, i, mode="wrap"), lambda x, i: x[i % N]),
    "take_along_axis": (lambda x, i: dnp.take_along_axis(x, i, 0), lambda x, i: x[i]),
    "set": (lambda x, i: x.at[i].set(7.0), lambda x, i: _written(x, i, 7.0)),
    "add": (lambda x, i: x.at[i].add(1.0), lambda x, i: _written(x, i, 1.0, True)),
    "dynamic_slice": (
        lambda x, i: lax.dynamic_slice(x, (i[0],), (2,)), lambda x, i: x[_start(i) :][:2]),
    "dynamic_update_slice": (
        lambda x, i: lax.dynamic_update_slice(x, dnp.full(2, 5.0), (i[0],)),
        lambda x, i: _written(x, slice(_start(i), _start(i) + 2), 5.0)),
    "gather": (
        lambda x, i: lax.gather(x, i[:, None], FROM, (1,), mode="clip"),
        lambda x, i: x[np.clip(i, 0, N - 1)]),
    "index_take": (lambda x, i: lax.index_take(x, (i,), (0,)), lambda x, i: x[i]),
    "scatter_add clip": (
        lambda x, i: lax.scatter_add(x, i[:, None], dnp.ones(i.shape), ONTO, mode="clip"),
        lambda x, i: _written(x, np.clip(i, 0, N - 1), 1.0, True)),
    "scatter_add drop": (
        lambda x, i: lax.scatter_add(x, i[:, None], dnp.ones(i.shape), ONTO, mode="drop"),
        lambda x, i: _written(x, i[i >= 0], 1.0, True)),
    "gather fill": (
        lambda x, i: lax.gather(x, i[:, None], FROM, (1,), mode="fill", fill_value=9),
        lambda x, i: np.where(i >= 0, x[i], np.float32(9))),
    "segment_sum": (
        lambda x, i: ops.segment_sum(x[: i.shape[0]], i, num_segments=N),
        lambda x, i: _written(0 * x, i[i >= 0], x[: len(i)][i >= 0], True)),
    "gradient": (
        lambda x, i: grad(lambda x: dnp.sum(x[i] ** 2))(x),
        lambda x, i: _written(0 * x, i, 2 * x[i], True)),
}  # fmt: skip


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("dtype", INDICES)
@pytest.mark.parametrize("name", CASES)
def test_narrow_indices(name: str, dtype: str, run: str) -> None:
    """Results are those of NumPy with wide indices."""
    f, wanted = CASES[name]
    i = np.array(INDICES[dtype])
    result = RUNS[run](f)(dnp.asarray(X), dnp.asarray(i, dtype))
    np.testing.assert_allclose(result, wanted(X, i), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_narrow_indices_of_more_instances_than_they_count(dtype: str) -> None:
    """A mapped axis may be longer than what the type of its indices counts."""
    r = np.random.default_rng(1)
    x, i = r.normal(size=(N, 10)).astype(np.float32), r.integers(0, 10, N).astype(dtype)
    hot = np.arange(10) == i[:, None].astype(int)
    for run in (vmap, lambda f: jit(vmap(f))):
        np.testing.assert_array_equal(run(lambda x, i: x[i])(x, i), x[hot])
        np.testing.assert_array_equal(run(lambda x, i: x.at[i].set(0.0))(x, i), x * ~hot)
        updated = run(lambda x, i: lax.dynamic_update_index_in_dim(x, 0.0, i, 0))
        np.testing.assert_array_equal(updated(x, i), x * ~hot)
        slope = run(lambda x, i: grad(lambda x: x[i])(x))
        np.testing.assert_array_equal(slope(x, i), hot)


@pytest.mark.parametrize("run", [lambda f: f, jit])
@pytest.mark.parametrize("n", [1, 2, 5, 100])
def test_empty_index_vectors(n: int, run: Any) -> None:
    """All updates count if the position of a window does not depend on the indices."""
    u = np.random.default_rng(2).uniform(0.5, 1.5, (n, 3)).astype(np.float32)
    whole, scalar = (lax.ScatterDimensionNumbers(axes, (), ()) for axes in ((1,), ()))
    none = dnp.zeros((n, 0), np.int32)
    wanted = {
        lax.scatter_add: u.sum(0) + 1,
        lax.scatter_mul: u.prod(0),
        lax.scatter_max: np.maximum(u.max(0), 1),
        lax.scatter_min: np.minimum(u.min(0), 1),
    }
    for scatter, value in wanted.items():
        result = run(lambda u, scatter=scatter: scatter(dnp.ones(3), none, u, whole))(u)
        np.testing.assert_allclose(result, value, rtol=2e-6)
    constant = run(lambda u: lax.scatter(dnp.ones(3), none, u * 0 + 2, whole))(u)
    np.testing.assert_array_equal(constant, np.full(3, 2.0))
    one = run(lambda u: lax.scatter_add(dnp.zeros(()), none, u[:, 0], scalar))(u)
    np.testing.assert_allclose(one, u[:, 0].sum(), rtol=2e-6)
    many = run(vmap(lambda u: lax.scatter_add(dnp.zeros(3), none, u, whole)))(np.stack([u, 2 * u]))
    np.testing.assert_allclose(many, [u.sum(0), 2 * u.sum(0)], rtol=2e-6)
    copies = lax.GatherDimensionNumbers((1, 2), (), ())
    slope = run(grad(lambda u: dnp.sum(lax.gather(u, none, copies, u.shape))))(u)
    np.testing.assert_array_equal(slope, np.full(u.shape, n))
