"""Linear equations with matrices, triangular ones and factored ones; inverses, determinants."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_jit import fused, one_call

from ..arguments import Array, ArrayLike, arrays, inexact_arrays, one_of
from .arguments import adjoint, square

_TRANSPOSED = {0: 0, 1: 1, 2: 2, "N": 0, "T": 1, "C": 2}


def _right_sides(name: str, a: Any, b: Any, stacked: bool = True) -> tuple[Any, bool]:
    """Right sides as matrices, and whether they were vectors.

    Args:
        stacked: whether an array of one dimension less than the matrices, whose last axis fits,
            holds a vector for each.

    Raises:
        ValueError: shapes do not fit.
    """
    one_each = stacked and b.ndim == a.ndim - 1 and b.shape[-1] == a.shape[-1]
    vector = b.ndim == 1 or one_each
    right = dnp.expand_dims(b, -1) if vector else b
    fits = right.ndim >= 2 and right.shape[-2] == a.shape[-1]
    try:
        batch = dnp.broadcast_shapes(a.shape[:-2], right.shape[:-2]) if fits else None
    except ValueError:
        batch = None
    if batch is None:
        raise ValueError(
            f"{name}: matrices of shape {a.shape} and right sides of shape {b.shape} do not fit"
            f"{here()}. Right sides are a vector, or matrices, with as many rows as the matrices."
        )
    return right, vector


def _columns(x: Any, vector: bool) -> Any:
    return dnp.squeeze(x, -1) if vector else x


def _triangular(a: Any, b: Any, *, lower: bool, trans: int = 0, unit: bool = False) -> Any:
    batch = dnp.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return lax.linalg.triangular_solve(
        dnp.broadcast_to(a, (*batch, *a.shape[-2:])),
        dnp.broadcast_to(b, (*batch, *b.shape[-2:])),
        left_side=True,
        lower=lower,
        transpose_a=trans > 0,
        conjugate_a=trans == 2,
        unit_diagonal=unit,
    )


def _transposition(name: str, trans: Any, allowed: str) -> int:
    trans = int(trans) if isinstance(trans, bool) else trans
    result = _TRANSPOSED.get(trans) if isinstance(trans, (int, str)) else None
    if result is None or str(trans) not in allowed.split(", "):
        raise ValueError(f"{name}: trans must be one of {allowed}, got {short_repr(trans)}{here()}")
    return result


@reword_errors
@one_call("trans", "lower", "unit_diagonal", "overwrite_b", "check_finite", "debug")
def solve_triangular(
    a: ArrayLike,
    b: ArrayLike,
    trans: int | str = 0,
    lower: bool = False,
    unit_diagonal: bool = False,
    overwrite_b: bool = False,
    debug: Any = None,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``op(a) x = b`` for triangular matrices ``a``.

    Args:
        a: matrices of shape ``(..., n, n)``, of which one triangle is read.
        b: a vector of ``n`` elements, vectors ``(..., n)`` for as many matrices, or matrices
            ``(..., n, m)``.
        trans: 0 or ``"N"``: ``op`` does nothing; 1 or ``"T"``: transposes; 2 or ``"C"``: transposes
            and conjugates.
        lower: whether the lower triangle is read.
        unit_diagonal: the diagonal counts as ones.
        overwrite_b, debug, check_finite: accepted for compatibility.

    Raises:
        ValueError: shapes do not fit, or ``trans`` is something else.
    """
    x, y = inexact_arrays("solve_triangular", a, b)
    square("solve_triangular", x)
    transposition = _transposition("solve_triangular", trans, "0, 1, 2, N, T, C")
    y, vector = _right_sides("solve_triangular", x, y)
    flags = {
        "lower": bool(lower),
        "trans": transposition,
        "unit": bool(unit_diagonal),
        "vector": vector,
    }
    return _solve_triangular(x, y, **flags)


@fused(static=("lower", "trans", "unit", "vector"))
def _solve_triangular(a: Any, b: Any, lower: bool, trans: int, unit: bool, vector: bool) -> Any:
    return _columns(_triangular(a, b, lower=lower, trans=trans, unit=unit), vector)


@reword_errors
def cho_solve(
    c_and_lower: tuple[ArrayLike, bool],
    b: ArrayLike,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``a x = b``, given the Cholesky factor of ``a``.

    Args:
        c_and_lower: the result of :func:`cho_factor`.
        b: right sides (see :func:`solve_triangular`).
        overwrite_b, check_finite: accepted for compatibility.

    Raises:
        ValueError: shapes do not fit.
    """
    c, lower = c_and_lower
    return _checked_cho_solve(c, b, lower=bool(lower))


@one_call("lower")
def _checked_cho_solve(c: Any, b: Any, lower: bool) -> Any:
    x, y = inexact_arrays("cho_solve", c, b)
    square("cho_solve", x)
    y, vector = _right_sides("cho_solve", x, y)
    return _cho_solve(x, y, lower=lower, vector=vector)


@fused(static=("lower", "vector"))
def _cho_solve(c: Any, b: Any, lower: bool, vector: bool) -> Any:
    x = _triangular(c, b, lower=lower, trans=0 if lower else 2)
    return _columns(_triangular(c, x, lower=lower, trans=2 if lower else 0), vector)


@reword_errors
def lu_solve(
    lu_and_piv: tuple[ArrayLike, ArrayLike],
    b: ArrayLike,
    trans: int = 0,
    overwrite_b: bool = False,
    check_finite: bool = True,
) -> Array:
    """``x`` with ``op(a) x = b``, given the LU factorization of ``a``.

    Args:
        lu_and_piv: the result of :func:`lu_factor`.
        b: right sides (see :func:`solve_triangular`).
        trans: 0: ``op`` does nothing; 1: transposes; 2: transposes and conjugates.
        overwrite_b, check_finite: accepted for compatibility.

    Raises:
        ValueError: shapes do not fit, or ``trans`` is something else.
    """
    factors, pivots = lu_and_piv
    x, y = inexact_arrays("lu_solve", factors, b)
    square("lu_solve", x)
    transposition = _transposition("lu_solve", trans, "0, 1, 2")
    y, vector = _right_sides("lu_solve", x, y)
    (p,) = arrays("lu_solve", pivots)
    return _lu_solve(x, p, y, trans=transposition, vector=vector)


@fused(static=("trans", "vector"))
def _lu_solve(factors: Any, pivots: Any, b: Any, trans: int, vector: bool) -> Any:
    order = lax.linalg.lu_pivots_to_permutation(pivots, factors.shape[-1])
    if trans == 0:
        x = _triangular(factors, _rows(b, order), lower=True, unit=True)
        return _columns(_triangular(factors, x, lower=False), vector)
    x = _triangular(factors, b, lower=False, trans=trans)
    x = _triangular(factors, x, lower=True, trans=trans, unit=True)
    return _columns(_rows(x, dnp.argsort(order, axis=-1)), vector)


def _rows(x: Any, order: Any) -> Any:
    batch = dnp.broadcast_shapes(x.shape[:-2], order.shape[:-1])
    x = dnp.broadcast_to(x, (*batch, *x.shape[-2:]))
    order = dnp.broadcast_to(order, (*batch, order.shape[-1]))
    return dnp.take_along_axis(x, order[..., None], axis=-2)


@reword_errors
@one_call("lower", "overwrite_a", "overwrite_b", "debug", "check_finite", "assume_a")
def solve(
    a: ArrayLike,
    b: ArrayLike,
    lower: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    debug: bool = False,
    check_finite: bool = True,
    assume_a: str = "gen",
) -> Array:
    """``x`` with ``a x = b``; NaN or infinite where ``a`` is singular.

    Args:
        a: matrices of shape ``(..., n, n)``.
        b: a vector of ``n`` elements, or matrices ``(..., n, m)``.
        lower: which triangle is read, where ``a`` is assumed to be symmetric.
        assume_a: ``"gen"``: nothing; ``"sym"``: that it is symmetric; ``"her"``: Hermitian;
            ``"pos"``: positive definite.
        overwrite_a, overwrite_b, debug, check_finite: accepted for compatibility.

    Raises:
        ValueError: shapes do not fit, or ``assume_a`` is something else.
    """
    one_of("solve", "assume_a", assume_a, ("gen", "sym", "her", "pos"))
    x, y = inexact_arrays("solve", a, b)
    square("solve", x)
    y, vector = _right_sides("solve", x, y, stacked=False)
    return _solve(x, y, lower=bool(lower), assume=assume_a, vector=vector)


@fused(static=("lower", "assume", "vector"))
def _solve(a: Any, b: Any, lower: bool, assume: str, vector: bool) -> Any:
    if assume == "pos":
        factor = lax.linalg.cholesky(a if lower else adjoint(a), symmetrize_input=False)
        return _cho_solve(factor, b, lower=True, vector=vector)
    if assume != "gen":
        a = _mirrored(a, lower, assume == "her")
    factors, pivots, _ = lax.linalg.lu(a)
    return _lu_solve(factors, pivots, b, trans=0, vector=vector)


def _mirrored(a: Any, lower: bool, conjugate: bool) -> Any:
    triangle, strict = (dnp.tril(a), dnp.tril(a, -1)) if lower else (dnp.triu(a), dnp.triu(a, 1))
    return triangle + (adjoint(strict) if conjugate else dnp.matrix_transpose(strict))


@reword_errors
@one_call("overwrite_a", "check_finite")
def inv(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The inverse of matrices of shape ``(..., n, n)``.

    Args:
        overwrite_a, check_finite: accepted for compatibility.

    Raises:
        ValueError: they are not square.
    """
    return dnp.linalg.inv(square("inv", a)[0])


@reword_errors
@one_call("overwrite_a", "check_finite")
def det(a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True) -> Array:
    """The determinant of matrices of shape ``(..., n, n)``.

    Args:
        overwrite_a, check_finite: accepted for compatibility.

    Raises:
        ValueError: they are not square.
    """
    return dnp.linalg.det(square("det", a)[0])
