"""Linear algebra with SciPy, matrix by matrix."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_backends import Effort, reference_rules

from ...primitives.condensed import (
    hessenberg_p,
    ormqr_p,
    schur_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from ...primitives.factorizations import (
    cholesky_p,
    cholesky_update_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    symmetric_product_p,
    triangular_solve_p,
)
from ...primitives.spectral import eig_p, eigh_p, svd_p
from .kinds import Array, Late

sl = Late("scipy.linalg")


def _count(in_avals: Sequence[Any], out_avals: Sequence[Any]) -> int:
    return prod(in_avals[0].shape[:-2])


of_scipy = Effort(_count, "scipy.linalg")


def per_matrix(
    f: Callable[..., Sequence[Any]], outs: Sequence[tuple[Sequence[int], Any]], *args: Array
) -> list[Array]:
    """``f`` on each element of the batch; NaN where it fails.

    Args:
        outs: shape and dtype of each result of one element.
        args: pairs of an array and how many of its last axes are no batch axes.
    """
    arrays = args[0::2]
    ranks: Any = args[1::2]
    batch = arrays[0].shape[: arrays[0].ndim - ranks[0]]
    results = [np.zeros((*batch, *shape), dtype) for shape, dtype in outs]
    for at in np.ndindex(batch):
        try:
            result = f(*[x[at] for x in arrays])
        except (np.linalg.LinAlgError, ValueError):
            result = [np.full(shape, np.nan) for shape, _ in outs]
        for out, value in zip(results, result):
            out[at] = value
    return results


@reference_rules.register(cholesky_p)
@of_scipy
def _cholesky(x: Array) -> Array:
    def one(a: Array) -> list[Array]:
        return [sl.cholesky(a, lower=True)]

    return np.tril(per_matrix(one, [(x.shape[-2:], x.dtype)], x, 2)[0])  # type: ignore[arg-type]


@reference_rules.register(triangular_solve_p)
@of_scipy
def _triangular_solve(
    a: Array,
    b: Array,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Array:
    def one(a: Array, b: Array) -> list[Array]:
        a = np.tril(a) if lower else np.triu(a)
        if unit_diagonal:
            np.fill_diagonal(a, 1)
        a = a.conj() if conjugate_a else a
        a = a.T if transpose_a else a
        if 0 in (*a.shape, *b.shape):
            return [b]
        return [np.linalg.solve(a, b) if left_side else np.linalg.solve(a.T, b.T).T]

    return per_matrix(one, [(b.shape[-2:], b.dtype)], a, 2, b, 2)[0]  # type: ignore[arg-type]


@reference_rules.register(lu_p)
@of_scipy
def _lu(x: Array) -> list[Array]:
    m, n = x.shape[-2:]
    k = min(m, n)

    def one(a: Array) -> list[Array]:
        if not a.size:
            return [a, np.arange(k), np.arange(m)]
        getrf: Any = sl.get_lapack_funcs("getrf", [a])
        factors, pivots = getrf(a)[:2]
        return [factors, pivots, _swapped(pivots, m)]

    return per_matrix(one, [((m, n), x.dtype), ((k,), np.int32), ((m,), np.int32)], x, 2)  # type: ignore[arg-type]


def _swapped(pivots: Array, size: int) -> Array:
    rows = np.arange(size)
    for i, j in enumerate(pivots):
        rows[[i, j]] = rows[[j, i]]
    return rows


@reference_rules.register(lu_pivots_to_permutation_p)
def _permutation(pivots: Array, *, permutation_size: int) -> Array:
    def one(p: Array) -> list[Array]:
        return [_swapped(p, permutation_size)]

    return per_matrix(one, [((permutation_size,), pivots.dtype)], pivots, 1)[0]  # type: ignore[arg-type]


@reference_rules.register(qr_p)
@of_scipy
def _qr(x: Array, *, pivoting: bool, full_matrices: bool) -> list[Array]:
    m, n = x.shape[-2:]
    k = m if full_matrices else min(m, n)
    outs: list[Any] = [((m, k), x.dtype), ((k, n), x.dtype)]
    if pivoting:
        outs.append(((n,), np.int32))

    def one(a: Array) -> Sequence[Any]:
        if not a.size:
            return [np.eye(m, k), np.zeros((k, n)), np.arange(n)]
        return sl.qr(a, mode="full" if full_matrices else "economic", pivoting=pivoting)

    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


@reference_rules.register(geqrf_p)
@of_scipy
def _geqrf(x: Array) -> list[Array]:
    m, n = x.shape[-2:]
    outs: list[Any] = [((m, n), x.dtype), ((min(m, n),), x.dtype)]

    def one(a: Array) -> Sequence[Any]:
        if not a.size:
            return [a, np.zeros(0)]
        return sl.qr(a, mode="raw")[0]  # type: ignore[return-value]

    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


@reference_rules.register(householder_product_p)
@of_scipy
def _householder_product(a: Array, taus: Array) -> Array:
    def one(v: Array, tau: Array) -> list[Array]:
        return [_reflections(v, tau)[:, : v.shape[1]]]

    return per_matrix(one, [(a.shape[-2:], a.dtype)], a, 2, taus, 1)[0]  # type: ignore[arg-type]


@reference_rules.register(eigh_p)
@of_scipy
def _eigh(x: Array, *, lower: bool) -> list[Array]:
    n = x.shape[-1]

    def one(a: Array) -> list[Array]:
        if not a.size:
            return [a, np.zeros(0)]
        w, v = sl.eigh(a, lower=lower, driver="evd")
        return [v, w]

    return per_matrix(one, [((n, n), x.dtype), ((n,), x.real.dtype)], x, 2)  # type: ignore[arg-type]


@reference_rules.register(eig_p)
@of_scipy
def _eig(
    x: Array,
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> list[Array]:
    n = x.shape[-1]
    dtype = np.result_type(x.dtype, np.complex64)
    outs: list[Any] = [((n,), dtype)]
    outs += [((n, n), dtype)] * (compute_left_eigenvectors + compute_right_eigenvectors)

    def one(a: Array) -> Sequence[Any]:
        if not a.size:
            return [np.zeros(s) for s, _ in outs]
        result = sl.eig(a, left=compute_left_eigenvectors, right=compute_right_eigenvectors)
        return result if isinstance(result, tuple) else [result]

    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


@reference_rules.register(svd_p)
@of_scipy
def _svd(x: Array, *, full_matrices: bool, compute_uv: bool, algorithm: Any) -> list[Array]:
    m, n = x.shape[-2:]
    k = min(m, n)
    left, right = (m, n) if full_matrices else (k, k)
    outs: list[Any] = [((k,), x.real.dtype)]
    if compute_uv:
        outs += [((m, left), x.dtype), ((right, n), x.dtype)]

    def one(a: Array) -> Sequence[Any]:
        if not a.size:
            return [np.zeros(k), np.eye(m, left), np.eye(right, n)]
        result = sl.svd(a, full_matrices=full_matrices, compute_uv=compute_uv)
        return [result[1], result[0], result[2]] if compute_uv else [result]

    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


@reference_rules.register(hessenberg_p)
@of_scipy
def _hessenberg(x: Array) -> list[Array]:
    n = x.shape[-1]

    def one(a: Array) -> Sequence[Any]:
        gehrd: Any = sl.get_lapack_funcs("gehrd", [a])
        return gehrd(a)[:2] if n else [a, np.zeros(0)]

    return per_matrix(one, [((n, n), x.dtype), ((max(n - 1, 0),), x.dtype)], x, 2)  # type: ignore[arg-type]


@reference_rules.register(tridiagonal_p)
@of_scipy
def _tridiagonal(x: Array, *, lower: bool) -> list[Array]:
    n = x.shape[-1]

    def one(a: Array) -> Sequence[Any]:
        reduce: Any = sl.get_lapack_funcs("hetrd" if a.dtype.kind == "c" else "sytrd", [a])
        return reduce(a, lower=lower)[:4]

    real = x.real.dtype
    outs = [((n, n), x.dtype), ((n,), real), ((n - 1,), real), ((n - 1,), x.dtype)]
    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


@reference_rules.register(schur_p)
@of_scipy
def _schur(x: Array, *, compute_schur_vectors: bool) -> list[Array]:
    def one(a: Array) -> Sequence[Any]:
        result = sl.schur(a) if a.size else (a, a)
        return result[: 1 + compute_schur_vectors]

    outs = [(x.shape[-2:], x.dtype)] * (1 + compute_schur_vectors)
    return per_matrix(one, outs, x, 2)  # type: ignore[arg-type]


def _reflections(v: Array, tau: Array) -> Array:
    """The product of reflections 1 - tau w wᴴ with w = (0, .., 0, 1, v below)."""
    m = v.shape[0]
    product = np.eye(m, dtype=v.dtype)
    for i, t in enumerate(tau):
        w = np.concatenate([np.zeros(i), [1], v[i + 1 :, i]])
        product = product @ (np.eye(m) - t * np.outer(w, w.conj()))
    return product


@reference_rules.register(ormqr_p)
@of_scipy
def _ormqr(a: Array, taus: Array, c: Array, *, left: bool, transpose: bool) -> Array:
    def one(v: Array, tau: Array, c: Array) -> list[Array]:
        q = _reflections(v, tau)
        q = q.conj().T if transpose else q
        return [q @ c if left else c @ q]

    return per_matrix(one, [(c.shape[-2:], c.dtype)], a, 2, taus, 1, c, 2)[0]  # type: ignore[arg-type]


@reference_rules.register(tridiagonal_solve_p)
def _tridiagonal_solve(
    dl: Array, d: Array, du: Array, b: Array, *, perturb_singular: bool
) -> Array:
    def one(dl: Array, d: Array, du: Array, b: Array) -> list[Array]:
        if not b.size:
            return [b]
        return [np.linalg.solve(np.diag(d) + np.diag(dl[1:], -1) + np.diag(du[:-1], 1), b)]

    return per_matrix(one, [(b.shape[-2:], b.dtype)], dl, 1, d, 1, du, 1, b, 2)[0]  # type: ignore[arg-type]


@reference_rules.register(cholesky_update_p)
@of_scipy
def _cholesky_update(r: Array, w: Array) -> Array:
    def one(r: Array, w: Array) -> list[Array]:
        r = np.triu(r)
        return [sl.cholesky(r.T @ r + np.outer(w, w)) if r.size else r]

    return per_matrix(one, [(r.shape[-2:], r.dtype)], r, 2, w, 1)[0]  # type: ignore[arg-type]


@reference_rules.register(symmetric_product_p)
def _symmetric_product(a: Array, c: Array, *, alpha: float, beta: float) -> Array:
    square = alpha * (a @ a.swapaxes(-1, -2))
    return (square + beta * c if beta else square).astype(a.dtype)
