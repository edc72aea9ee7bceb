"""Derivatives of factorizations, of solving with them, and of updated factors.

Each follows from differentiating the defining equations; see M. Giles, "An extended collection of
matrix derivative results" (2008), and M. Seeger et al., "Auto-differentiating linear algebra"
(2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...dtypes import finfo
from ...numerics.matrices import (
    adjoint,
    hermitian,
    identity,
    lower,
    matmul,
    on_columns,
    on_diagonal,
    on_rows,
    upper,
)
from ...numerics.scaling import scaled_matrices, times
from ...primitives.arithmetic import add_p, div_p, mul_p, neg_p, sub_p
from ...primitives.discrete import gt_p
from ...primitives.factorizations import (
    cholesky_p,
    cholesky_update_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    triangular_solve_p,
)
from ...primitives.moves import along, joined, padded, repeated, spread
from ...primitives.polar import qdwh_p
from ...primitives.reductions import reduce_max_p
from ...primitives.shape import transpose_p
from ...primitives.spectral import eigh_p
from ...primitives.values import convert_element_type_p, real_p, select_n_p
from ...scalars import scalar
from .kinds import zero
from .sorting import taken_rows

Pair = tuple[Any, Any]
Many = tuple[list[Any], list[Any]]

zero(lu_pivots_to_permutation_p)


def solve(
    a: Any, b: Any, *, left: bool, low: bool, adjoint_a: bool = False, unit: bool = False
) -> Any:
    """``op(a)⁻¹ b`` or ``b op(a)⁻¹`` for triangular ``a``."""
    return triangular_solve_p.bind(
        a,
        b,
        left_side=left,
        lower=low,
        transpose_a=adjoint_a,
        conjugate_a=adjoint_a,
        unit_diagonal=unit,
    )


@jvp_rules.register(cholesky_p)
def _cholesky(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    # From A = L Lᴴ: L⁻¹ dA L⁻ᴴ = L⁻¹ dL + (L⁻¹ dL)ᴴ, of which the lower triangle, with half of the
    # diagonal, is L⁻¹ dL.
    factor = cholesky_p.bind(primals[0])
    unit, _ = scaled_matrices(factor)
    change = hermitian(tangents[0], True)
    middle = solve(factor, change, left=True, low=True)
    middle = solve(unit, middle, left=False, low=True, adjoint_a=True)
    half = mul_p.bind(lower(middle), scalar(0.5, middle.dtype))
    phi = select_n_p.bind(on_diagonal(middle), lower(middle), half)
    return factor, matmul(unit, phi)


@jvp_rules.register(triangular_solve_p)
def _triangular_solve(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> Pair:
    # From op(A) X = B: dX = op(A)⁻¹ (dB - op(dA) X), where dA has the triangle of A only.
    (a, b), (da, db) = primals, tangents
    params = {
        "left_side": left_side, "lower": lower, "transpose_a": transpose_a,
        "conjugate_a": conjugate_a, "unit_diagonal": unit_diagonal,
    }  # fmt: skip
    x = triangular_solve_p.bind(a, b, **params)
    right = db
    if da is not None:
        change = _triangle(da, lower, unit_diagonal)
        if transpose_a:
            change = adjoint(change) if conjugate_a else _swapped(change)
        elif conjugate_a:
            change = _conjugate(change)
        change = neg_p.bind(matmul(change, x) if left_side else matmul(x, change))
        right = change if right is None else add_p.bind(right, change)
    return x, triangular_solve_p.bind(a, right, **params)


def _triangle(x: Any, low: bool, unit: bool) -> Any:
    return lower(x, -int(unit)) if low else upper(x, int(unit))


def _swapped(x: Any) -> Any:
    n = len(x.shape)
    return transpose_p.bind(x, permutation=(*range(n - 2), n - 1, n - 2))


def _conjugate(x: Any) -> Any:
    return adjoint(_swapped(x))


@jvp_rules.register(lu_p)
def _lu(primals: Sequence[Any], tangents: Sequence[Any]) -> Many:
    # From P A = L U: L⁻¹ P dA U⁻¹ = L⁻¹ dL + dU U⁻¹, strictly lower and upper. Where A is not
    # square, L or U is completed to a square matrix by an identity.
    factors, pivots, permutation = lu_p.bind(primals[0])
    m, n = factors.shape[-2:]
    change = taken_rows(tangents[0], permutation)
    left = _squared(lower(factors, -1), m, True)
    unit, power = scaled_matrices(upper(factors))
    right = _squared(unit, n, False)
    middle = solve(left, change, left=True, low=True, unit=True)
    middle = solve(right, middle, left=False, low=False)
    # Already a triangle; taken once more, so that cotangents of the other, which the power may make
    # infinite, do not enter the product of the transpose.
    low = lower(times(matmul(left, lower(middle, -1)), power), -1)
    tangent = add_p.bind(low, matmul(upper(middle), right))
    return [factors, pivots, permutation], [tangent, None, None]


def _squared(x: Any, size: int, unit: bool) -> Any:
    """A triangular factor as a square matrix: cut or completed by the identity."""
    last = len(x.shape) - 1
    m, n = x.shape[-2:]
    k = min(m, n)
    x = along(along(x, last - 1, 0, min(m, size)), last, 0, min(n, size))
    grow = [(0, 0, 0)] * (last - 1) + [(0, size - x.shape[-2], 0), (0, size - x.shape[-1], 0)]
    x = padded(x, grow)
    eye = identity(x.shape, x.dtype)
    if unit:  # the diagonal is all ones
        return add_p.bind(x, eye)
    if k == size:
        return x
    rest = [(0, 0, 0)] * (last - 1) + [(k, 0, 0), (k, 0, 0)]
    shape = (*x.shape[:-2], size - k, size - k)
    return add_p.bind(x, padded(identity(shape, x.dtype), rest))


@jvp_rules.register(qr_p)
def _qr(
    primals: Sequence[Any], tangents: Sequence[Any], *, pivoting: bool, full_matrices: bool
) -> Many:
    # From A = Q R: with B = dA R⁻¹ and C = Qᴴ B, Qᴴ dQ is antihermitian and dR R⁻¹ upper
    # triangular with a real diagonal, so that Qᴴ dQ is the antihermitian matrix with C's strictly
    # lower triangle and the imaginary part of its diagonal.
    x, dx = primals[0], tangents[0]
    m, n = x.shape[-2:]
    result = qr_p.bind(x, pivoting=pivoting, full_matrices=full_matrices)
    if pivoting:
        dx = taken_rows(_swapped(dx), result[2])
        dx = _swapped(dx)
    if m > n and full_matrices:
        raise NotImplementedError(
            "lax.linalg.qr with full_matrices=True of matrices with more rows than columns has no "
            "derivative: the additional columns of Q are not determined. Use full_matrices=False."
        )
    q, r = result[0], result[1]
    last = len(r.shape) - 1
    square, power = scaled_matrices(along(r, last, 0, min(m, n)))
    b = solve(square, along(dx, last, 0, min(m, n)), left=False, low=False)
    c = matmul(adjoint(q), b)
    low = lower(c, -1)
    turn = sub_p.bind(low, adjoint(low))
    if c.dtype.kind == "c":
        real = convert_element_type_p.bind(real_p.bind(c), new_dtype=c.dtype, weak_type=False)
        imaginary = sub_p.bind(c, real)
        turn = add_p.bind(turn, select_n_p.bind(on_diagonal(c), scalar(0, c.dtype), imaginary))
    dq = times(add_p.bind(matmul(q, sub_p.bind(turn, c)), b), power)
    dr = matmul(sub_p.bind(c, turn), square)
    if m < n:  # the columns of R beyond the square are those of Qᴴ A
        rest = matmul(adjoint(dq), _rest(x if not pivoting else _ordered(x, result[2]), m, n))
        rest = add_p.bind(rest, matmul(adjoint(q), _rest(dx, m, n)))
        dr = joined([dr, rest], last)
    return result, [dq, dr, None] if pivoting else [dq, dr]


def _ordered(x: Any, columns: Any) -> Any:
    return _swapped(taken_rows(_swapped(x), columns))


def _rest(x: Any, start: int, stop: int) -> Any:
    return along(x, len(x.shape) - 1, start, stop)


@jvp_rules.register(qdwh_p)
def _qdwh(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Many:
    # From A = U H, H = V P Vᴴ: with the antihermitian X = Uᴴ dU, X H + H X = Uᴴ dA - dAᴴ U, which
    # the basis V makes diagonal; the part of dU that leaves the space of U is that of dA H⁻¹.
    x, dx = primals[0], tangents[0]
    u, *rest = qdwh_p.bind(x, **params)
    if 0 in x.shape:
        return [u, *rest], [dx, None, None]
    v, p = eigh_p.bind(hermitian(matmul(adjoint(u), x), True), lower=True)
    w = matmul(u, v)
    change = matmul(dx, v)
    inside = matmul(adjoint(w), change)
    sums = add_p.bind(on_rows(p, inside.shape), on_columns(p, inside.shape))
    turn = mul_p.bind(sub_p.bind(inside, adjoint(inside)), _inverse(sums, p, x.dtype))
    du = matmul(w, turn)
    if x.shape[-2] > x.shape[-1]:
        outside = sub_p.bind(change, matmul(w, inside))
        weights = _inverse(on_columns(p, outside.shape), p, x.dtype)
        du = add_p.bind(du, mul_p.bind(outside, weights))
    return [u, *rest], [matmul(du, adjoint(v)), None, None]


def _inverse(x: Any, values: Any, dtype: Any) -> Any:
    """``1 / x``; zero for what beside the largest singular value is a rounding.

    Such are those of matrices of which only a part counts.
    """
    last = len(values.shape) - 1
    largest = reduce_max_p.bind(values, axes=(last,))
    limit = mul_p.bind(largest, scalar(8.0 * float(finfo(values.dtype).eps), values.dtype))
    one = scalar(1.0, x.dtype)
    fine = gt_p.bind(x, spread(limit, x.shape, tuple(range(last))))
    result = div_p.bind(one, select_n_p.bind(fine, one, x))
    result = select_n_p.bind(fine, scalar(0.0, x.dtype), result)
    return convert_element_type_p.bind(result, new_dtype=dtype, weak_type=False)


@jvp_rules.register(cholesky_update_p)
def _cholesky_update(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    # From Sᵀ S = Rᵀ R + w wᵀ =: A: S⁻ᵀ dA S⁻¹ = dS S⁻¹ + (dS S⁻¹)ᵀ, of which the upper triangle,
    # with half of the diagonal, is dS S⁻¹.
    (r, w), (dr, dw) = primals, tangents
    result = cholesky_update_p.bind(r, w)
    unit, power = scaled_matrices(result)
    halves: list[Any] = []
    if dr is not None:
        halves.append(matmul(adjoint(upper(times(r, power))), upper(dr)))
    if dw is not None:
        last = len(w.shape)
        column = times(repeated(w, 1, last), power)
        halves.append(matmul(column, repeated(dw, 1, last - 1)))
    half = halves[0] if len(halves) == 1 else add_p.bind(*halves)
    change = add_p.bind(half, adjoint(half))
    middle = solve(unit, change, left=True, low=False, adjoint_a=True)
    middle = upper(solve(unit, middle, left=False, low=False))
    weighted = mul_p.bind(middle, scalar(0.5, middle.dtype))
    return result, matmul(select_n_p.bind(on_diagonal(middle), middle, weighted), unit)
