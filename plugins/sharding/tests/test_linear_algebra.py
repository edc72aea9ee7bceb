"""Linear algebra of a batch that is divided over devices: each device has its own, and calls LAPACK
for that."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp
import dovetail.scipy as dsp
from dovetail import NamedSharding, P, lax
from dovetail.sharding import AxisType, Mesh
from dovetail_testing import assert_close

la = lax.linalg
N = 4
RANDOM = np.random.default_rng(0)
BATCH = RANDOM.standard_normal((8, 2, N, N)).astype(np.float32) + 3 * np.eye(N, dtype=np.float32)
MOVED = ("all-gather", "all-to-all", "collective-permute")
"""What moves matrices. Loops whose length depends on the whole batch reduce a predicate."""


def _spd(a: Any) -> Any:
    return a @ dnp.matrix_transpose(a) + dnp.eye(N)


def _bands(a: Any) -> Any:
    return a[..., 0], 9 + a[..., 1], a[..., 2]


OPERATIONS: dict[str, Any] = {
    "cholesky": lambda a: la.cholesky(_spd(a)),
    "qr": la.qr,
    "qr, full": lambda a: la.qr(a[..., :2], full_matrices=True),
    "qr, pivoting": lambda a: la.qr(a, pivoting=True),
    "eigh": lambda a: la.eigh(_spd(a))[1],
    "eig": lambda a: la.eig(a, compute_left_eigenvectors=False)[0],
    "eig, complex": lambda a: la.eig(a + 1j, compute_left_eigenvectors=False)[0],
    "svd": lambda a: la.svd(a, full_matrices=False)[1],
    "lu": la.lu,
    "lu_pivots_to_permutation": lambda a: la.lu_pivots_to_permutation(la.lu(a)[1], N),
    "schur": lambda a: la.schur(a)[0],
    "triangular_solve": lambda a: la.triangular_solve(a, 2 * a, left_side=True, lower=True),
    "triangular_solve, right": lambda a: la.triangular_solve(a, 2 * a, transpose_a=True),
    "hessenberg": la.hessenberg,
    "tridiagonal": lambda a: la.tridiagonal(_spd(a)),
    "tridiagonal_solve": lambda a: la.tridiagonal_solve(*_bands(a), a),
    "householder_product": lambda a: la.householder_product(a, 0.1 * a[..., 0]),
    "qdwh": lambda a: la.qdwh(a)[0],
    "cholesky_update": lambda a: la.cholesky_update(a, a[..., 0]),
    "symmetric_product": lambda a: la.symmetric_product(a, _spd(a)),
    "solve": lambda a: dnp.linalg.solve(a, a[..., :2]),
    "inv": dnp.linalg.inv,
    "det": dnp.linalg.det,
    "slogdet": lambda a: dnp.linalg.slogdet(a)[1],
    "pinv": dnp.linalg.pinv,
    "matrix_rank": dnp.linalg.matrix_rank,
    "cho_solve": lambda a: dsp.linalg.cho_solve((la.cholesky(_spd(a)), True), a),
    "expm": dsp.linalg.expm,
}
DIFFERENTIABLE = {
    "cholesky", "qr", "eigh", "svd", "lu", "triangular_solve", "solve", "inv", "slogdet",
    "cho_solve", "tridiagonal_solve", "householder_product", "expm",
}  # fmt: skip
SMALL = {"cholesky_update": 1, "symmetric_product": 2}
"""Operations that take no batch of several dimensions by themselves."""


def _leaves(f: Any) -> Any:
    return lambda a: [x for x in dt.tree.leaves(f(a)) if x.ndim >= 2]


def _check(f: Any, mesh: Mesh, spec: P, a: Any = BATCH) -> Any:
    """The results on a divided batch are those on a whole one, and where the batch is."""
    x = dt.device_put(a, NamedSharding(mesh, spec))
    compiled = dt.jit(f).lower(x).compile()
    text = compiled.as_text()
    assert not [m for m in MOVED if m in text]
    result = compiled(x)
    for y, z in zip(result, dt.jit(f)(a), strict=True):
        assert y.sharding.is_equivalent_to(NamedSharding(mesh, spec), y.ndim), y.sharding
        assert_close(y, z, scale=200.0)


@pytest.mark.parametrize("kind", [AxisType.Auto, AxisType.Explicit], ids=["auto", "explicit"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_the_batch_stays_where_it_is(name, kind, devices):
    mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"), kind)
    f = _leaves(OPERATIONS[name])
    f = dt.vmap(dt.vmap(f)) if name in SMALL else f
    if name not in SMALL:
        _check(f, mesh, P("x"))
    _check(f, mesh, P("x", "y"))


@pytest.mark.parametrize("name", sorted(DIFFERENTIABLE))
def test_derivatives(name, devices):
    mesh = Mesh(np.array(devices).reshape(4, 2), ("x", "y"))
    f = _leaves(OPERATIONS[name])
    total = lambda a: sum(abs(y).sum() for y in f(a) if y.dtype.kind != "i")  # noqa: E731
    _check(lambda a: [dt.grad(total)(a)], mesh, P("x", "y"))
    inexact = lambda a: [y for y in f(a) if y.dtype.kind != "i"]  # noqa: E731
    _check(lambda a: dt.jvp(inexact, (a,), (dnp.sin(a),))[1], mesh, P("x"))


@pytest.mark.parametrize("name", ["cholesky", "svd", "lu", "solve", "schur"])
def test_matrices_that_are_divided_are_made_whole(name, mesh):
    f = _leaves(OPERATIONS[name])
    for spec in (P(None, None, "x"), P(None, None, None, "x"), P("y", None, "x")):
        x = dt.device_put(BATCH, NamedSharding(mesh, spec))
        for y, z in zip(dt.jit(f)(x), dt.jit(f)(BATCH), strict=True):
            assert_close(y, z, scale=200.0)


def test_a_single_matrix(mesh):
    """Without a batch every device has it."""
    x = dt.device_put(BATCH[0, 0], NamedSharding(mesh, P("x")))
    assert_close(dt.jit(la.lu)(x)[0], dt.jit(la.lu)(BATCH[0, 0])[0], scale=50.0)


def test_within_programs(mesh):
    """In loops, branches, checkpoints and mapped functions."""
    own = lambda a: la.cholesky(_spd(a))  # noqa: E731

    def looped(a: Any) -> Any:
        return [lax.fori_loop(0, 3, lambda i, c: own(c / 9), a)]

    _check(looped, mesh, P("x"))
    _check(lambda a: [lax.cond(a.shape[0] > 1, own, lambda a: a, a)], mesh, P("x", "y"))
    _check(lambda a: [dt.checkpoint(own)(a)], mesh, P("x"))
    _check(lambda a: [dt.vmap(dt.vmap(own), in_axes=1, out_axes=1)(a)], mesh, P("x"))
    part = dt.shard_map(own, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))
    _check(lambda a: [part(a)], mesh, P("x", "y"))
    some = dt.shard_map(
        own, mesh=mesh, in_specs=P("x"), out_specs=P("x"), axis_names=frozenset({"x"})
    )
    _check(lambda a: [some(a)], mesh, P("x"))
