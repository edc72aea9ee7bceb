"""Samples of linear algebra."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_testing import Sample

from ..primitives.condensed import (
    hessenberg_p,
    ormqr_p,
    schur_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)
from ..primitives.factorizations import (
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
from ..primitives.polar import qdwh_p
from ..primitives.spectral import eig_p, eigh_p, over_gaps_p, rotations_p, svd_p
from .kinds import numbers

EMPTY = frozenset({"empty"})
FAILING = frozenset({"extreme", "nonsmooth"})
# Complex eigenvectors and singular vectors are determined up to phases, and eigenvalues of general
# matrices have no order: differences see both.
PHASES = frozenset({"nonsmooth"})
# Rotations by angles of a rounding make the vectors: each entry is as exact as the vector's length.
UNIT = 1.0
# Of singular matrices methods with and without exchanges of rows give different results.
REGULAR = frozenset({"tame"})
DTYPES = ("float32", "complex64")


def _matrices(name: str, shape: tuple[int, ...], dtype: str = "float32") -> Any:
    """Matrices far from singular: the diagonal stands out, each entry of it by another amount."""
    x = numbers(name, (-1, 1), shape, dtype)
    diagonal = np.zeros(shape[-2:])
    np.fill_diagonal(diagonal, 3 + 4 * np.arange(min(shape[-2:])))
    return (x + diagonal).astype(dtype)


def _positive(shape: tuple[int, ...], dtype: str) -> Any:
    x = _matrices("positive", shape, dtype)
    return (x @ x.conj().swapaxes(-1, -2)).astype(dtype)


def _solves() -> Iterator[Sample]:
    for i in range(32):
        flags = [bool(i >> bit & 1) for bit in range(5)]
        names = ("left_side", "lower", "transpose_a", "conjugate_a", "unit_diagonal")
        params: dict[str, Any] = dict(zip(names, flags))
        dtype = DTYPES[flags[3]]
        a = _matrices("a", (3, 3), dtype)
        b = numbers("b", (-1, 1), (3, 2) if flags[0] else (2, 3), dtype)
        yield Sample(triangular_solve_p, (a, b), params)
    params = {**params, "unit_diagonal": False}
    a, b = _matrices("a", (2, 3, 3)), numbers("b", (-1, 1), (2, 3, 1))
    yield Sample(triangular_solve_p, (a, b), params)
    yield Sample(triangular_solve_p, (a[:, :0, :0], b[:, :0]), params, EMPTY)


def _factorizations() -> Iterator[Sample]:
    for dtype in DTYPES:
        yield Sample(cholesky_p, (_positive((3, 3), dtype),))
        yield Sample(cholesky_p, (_positive((2, 2, 2), dtype),))
    yield Sample(cholesky_p, (-np.eye(2, dtype="float32"),), tags=FAILING)
    yield Sample(cholesky_p, (np.zeros((0, 0), np.float32),), tags=EMPTY)
    for dtype in DTYPES:
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 3)):
            yield Sample(lu_p, (_matrices("lu", shape, dtype)[..., ::-1, :].copy(),))
        for shape in ((3, 3), (4, 2), (2, 4), (2, 3, 2)):
            for full in (True, False):
                if full and shape[-2] > shape[-1]:
                    continue  # not differentiable
                params: dict[str, Any] = {"pivoting": False, "full_matrices": full}
                yield Sample(qr_p, (_matrices("qr", shape, dtype),), params)
            yield Sample(geqrf_p, (_matrices("qr", shape, dtype),), tags=FAILING)
        pivoted = {"pivoting": True, "full_matrices": False}
        yield Sample(qr_p, (_matrices("qr", (4, 3), dtype),), pivoted)
    yield Sample(lu_p, (np.zeros((2, 2), np.float32),), tags=FAILING, name="singular")
    yield Sample(lu_p, (np.zeros((3, 0), np.float32),), tags=EMPTY)
    yield Sample(qr_p, (np.zeros((3, 0), np.float32),),
                 {"pivoting": False, "full_matrices": False}, EMPTY)  # fmt: skip
    yield Sample(geqrf_p, (np.zeros((3, 0), np.float32),), tags=EMPTY | FAILING)
    pivots = np.array([[2, 2, 2], [0, 1, 3]], np.int32)
    yield Sample(lu_pivots_to_permutation_p, (pivots,), {"permutation_size": 5})
    yield Sample(lu_pivots_to_permutation_p, (pivots[:, :0],), {"permutation_size": 2}, EMPTY)


def _spectra() -> Iterator[Sample]:
    for dtype in DTYPES:
        phases = PHASES if dtype == "complex64" else frozenset()
        for lower in (True, False):
            x = _matrices("eigh", (3, 3), dtype)
            yield Sample(eigh_p, (x + x.conj().T,), {"lower": lower}, phases, scale=UNIT)
        x = _matrices("eigh", (2, 3, 3), dtype)
        yield Sample(eigh_p, (x,), {"lower": True}, phases, scale=UNIT)
        for left, right in ((False, False), (True, True)):
            params = {"compute_left_eigenvectors": left, "compute_right_eigenvectors": right,
                      "enable_eigvec_derivs": True}  # fmt: skip
            x = _matrices("eig", (2, 3, 3), dtype)
            yield Sample(eig_p, (x,), params, PHASES, scale=UNIT if left else 0.0)
        for shape, full in (((3, 3), True), ((4, 2), False), ((2, 4), False), ((2, 3, 2), False)):
            for both in (True, False):
                params = {"full_matrices": full, "compute_uv": both, "algorithm": None}
                tags = phases if both else frozenset()
                yield Sample(svd_p, (_matrices("svd", shape, dtype),), params, tags, scale=UNIT)
        for shape in ((3, 3), (2, 2, 2)):
            x, unequal = _matrices("gaps", shape, dtype), np.zeros(shape, bool)
            gaps = (1.0 + numbers("gap", (0, 1), shape)).astype("float32")
            yield Sample(rotations_p, (x, gaps, unequal))
            yield Sample(over_gaps_p, (x, gaps, unequal), {"values_used": True})
        none = np.zeros((3, 3), "float32")
        diagonal = np.diag(np.arange(1, 4)).astype(dtype), none, none == 0
        yield Sample(rotations_p, diagonal, tags=PHASES)
        yield Sample(over_gaps_p, diagonal, {"values_used": False}, tags=PHASES)
    x = np.zeros((0, 0), np.float32)
    yield Sample(rotations_p, (x, x, x == 0), tags=EMPTY)
    yield Sample(over_gaps_p, (x, x, x == 0), {"values_used": True}, tags=EMPTY)
    yield Sample(eigh_p, (np.zeros((0, 0), np.float32),), {"lower": True}, EMPTY)
    params = {"full_matrices": False, "compute_uv": True, "algorithm": None}
    yield Sample(svd_p, (np.zeros((0, 3), np.float32),), params, EMPTY)


def _condensed() -> Iterator[Sample]:
    for dtype in DTYPES:
        for shape in ((4, 4), (2, 3, 3)):
            x = _matrices("condensed", shape, dtype)
            yield Sample(hessenberg_p, (x,), tags=FAILING, scale=4.0)
            for lower in (True, False):
                yield Sample(tridiagonal_p, (x,), {"lower": lower}, FAILING, scale=4.0)
            for vectors in (True, False):
                params = {"compute_schur_vectors": vectors}
                yield Sample(schur_p, (x,), params, FAILING, scale=10.0)
        yield from _reflections(dtype)
    for n in (0, 1):
        x = np.ones((n, n), np.float32)
        tags = EMPTY | FAILING
        yield Sample(hessenberg_p, (x,), tags=tags)
        yield Sample(schur_p, (x,), {"compute_schur_vectors": True}, tags)
    yield Sample(tridiagonal_p, (np.ones((1, 1), np.float32),), {"lower": True}, FAILING)


def _reflections(dtype: str) -> Iterator[Sample]:
    a, taus = numbers("reflections", (-1, 1), (3, 2), dtype), numbers("taus", (0, 1), (2,), dtype)
    yield Sample(householder_product_p, (a, taus), scale=4.0)
    for left in (True, False):
        for transpose in (True, False):
            params = {"left": left, "transpose": transpose}
            c = numbers("c", (-1, 1), (3, 4) if left else (4, 3), dtype)
            yield Sample(ormqr_p, (a, taus, c), params, scale=4.0)
    yield Sample(ormqr_p, (a, taus[:0], c), params)
    batch = numbers("batch", (-1, 1), (2, 3, 3), dtype)
    yield Sample(ormqr_p, (batch, batch[..., 0], batch), params, scale=8.0)
    yield Sample(ormqr_p, (a, taus, c[:0]), params, EMPTY)


def _tridiagonals() -> Iterator[Sample]:
    for dtype in DTYPES:
        for shape in ((4,), (2, 3), (1,)):
            dl, du = (numbers(name, (-1, 1), shape, dtype) for name in ("dl", "du"))
            d = (numbers("d", (3, 4), shape, dtype)).astype(dtype)
            b = numbers("b", (-1, 1), (*shape, 2), dtype)
            for perturb in (False, True):
                params = {"perturb_singular": perturb}
                yield Sample(tridiagonal_solve_p, (dl, d, du, b), params, REGULAR, scale=UNIT)
    none = np.zeros((0,), np.float32)
    params = {"perturb_singular": False}
    yield Sample(tridiagonal_solve_p, (none, none, none, none.reshape(0, 2)), params, EMPTY)


def _updates() -> Iterator[Sample]:
    for shape in ((3, 3), (2, 2, 2)):
        r = np.triu(_matrices("r", shape))
        w = numbers("w", (-1, 1), shape[:-1])
        yield Sample(cholesky_update_p, (r, w), tags=REGULAR, scale=UNIT)
    w = np.zeros((2,), np.float32)
    yield Sample(cholesky_update_p, (np.diag([-1, 1]).astype(np.float32), w), tags=REGULAR)
    yield Sample(cholesky_update_p, (w[:0, None][:, :0], w[:0]), tags=EMPTY)
    for alpha, beta in ((1.0, 0.0), (2.0, -0.5)):
        params = {"alpha": alpha, "beta": beta}
        a, c = numbers("a", (-1, 1), (2, 3, 2)), numbers("c", (-1, 1), (2, 3, 3))
        yield Sample(symmetric_product_p, (a, c), params, scale=2.0)
    yield Sample(symmetric_product_p, (a[:, :, :0], c), params)


def _polar() -> Iterator[Sample]:
    params = {"max_iterations": 10, "eps": 1e-7}
    for dtype in DTYPES:
        for shape in ((3, 3), (2, 4, 2)):
            x = _matrices("polar", shape, dtype)
            yield Sample(qdwh_p, (x,), params, scale=UNIT, oracle=_polar_by_values)
    yield Sample(qdwh_p, (np.zeros((2, 0), np.float32),), params, EMPTY)


def _polar_by_values(x: Any, **params: Any) -> list[Any]:
    u, _, vh = np.linalg.svd(x, full_matrices=False)
    return [u @ vh, np.int32(4), np.ones(x.shape[:-2], bool)]


def samples() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _solves()
    yield from _factorizations()
    yield from _spectra()
    yield from _condensed()
    yield from _tridiagonals()
    yield from _updates()
    yield from _polar()
