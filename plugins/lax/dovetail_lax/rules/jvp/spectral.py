"""Derivatives of eigenvalues, singular values and their vectors.

They follow from differentiating the defining equations; see M. Giles, "An extended collection of
matrix derivative results" (2008), and M. Seeger et al., "Auto-differentiating linear algebra"
(2017).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import here

from ...dtypes import finfo
from ...numerics.matrices import (
    adjoint,
    diagonal,
    hermitian,
    matmul,
    on_columns,
    on_diagonal,
    on_rows,
)
from ...primitives.arithmetic import abs_p, add_p, div_p, max_p, mul_p, neg_p, sub_p
from ...primitives.discrete import eq_p, le_p
from ...primitives.factorizations import INDEX, lu_p
from ...primitives.moves import full
from ...primitives.reductions import argmax_p, reduce_sum_p
from ...primitives.spectral import eig_p, eigh_p, over_gaps_p, rotations_p, svd_p
from ...primitives.values import (
    complex_p,
    conj_p,
    convert_element_type_p,
    imag_p,
    iota_p,
    real_p,
    select_n_p,
)
from ...scalars import scalar
from .factorizations import Many, Pair, solve
from .sorting import taken_rows


@jvp_rules.register(eigh_p)
def _eigh(primals: Sequence[Any], tangents: Sequence[Any], *, lower: bool) -> Many:
    # From A V = V W: with D = Vᴴ dA V, dw is the diagonal of D, and Vᴴ dV is D / (w_j - w_i) off
    # the diagonal and zero on it. Vectors of equal eigenvalues may be turned into each other, and
    # how dA turns them depends on what is computed of them: see the primitive.
    v, w = eigh_p.bind(primals[0], lower=lower)
    change = hermitian(tangents[0], lower)
    d = matmul(adjoint(v), matmul(change, v))
    across, down = on_columns(w, v.shape), on_rows(w, v.shape)
    turn, dw = rotations_p.bind(d, sub_p.bind(across, down), _equal(across, down))
    dw = real_p.bind(dw) if v.dtype.kind == "c" else dw
    return [v, w], [matmul(v, turn), dw]


def _equal(across: Any, down: Any) -> Any:
    """True where two values are equal but for roundings."""
    gap, size = (
        abs_p.bind(sub_p.bind(across, down)),
        max_p.bind(abs_p.bind(across), abs_p.bind(down)),
    )
    roundings = scalar(8.0 * float(finfo(size.dtype).eps), size.dtype)
    return le_p.bind(gap, mul_p.bind(size, roundings))


@jvp_rules.register(rotations_p)
def _rotations(primals: Sequence[Any], tangents: Sequence[Any]) -> Many:
    (x, gaps, equal), (dx, dgaps, _) = primals, tangents
    outs = rotations_p.bind(x, gaps, equal)
    turn, values = (None, None) if dx is None else rotations_p.bind(dx, gaps, equal)
    if dgaps is not None:
        part = _by_gaps(outs[0], gaps, dgaps, equal)
        turn = part if turn is None else add_p.bind(turn, part)
    return outs, [turn, values]


@jvp_rules.register(over_gaps_p)
def _over_gaps(primals: Sequence[Any], tangents: Sequence[Any], *, values_used: bool) -> Pair:
    (x, gaps, equal), (dx, dgaps, _) = primals, tangents
    params = {"values_used": values_used}
    out, total = over_gaps_p.bind(x, gaps, equal, **params), None
    if dx is not None:
        total = over_gaps_p.bind(dx, gaps, equal, **params)
    if dgaps is not None:
        part = _by_gaps(out, gaps, dgaps, equal)
        total = part if total is None else add_p.bind(total, part)
    return out, total


def _by_gaps(out: Any, gaps: Any, dgaps: Any, equal: Any) -> Any:
    """The change of quotients with gaps; none of those that are 0 or NaN by decree."""
    safe = select_n_p.bind(equal, gaps, full(gaps.shape, 1, gaps.dtype))
    safe = select_n_p.bind(on_diagonal(gaps), safe, full(gaps.shape, 1, gaps.dtype))
    slope = div_p.bind(neg_p.bind(out), _typed(safe, out.dtype))
    return mul_p.bind(_typed(dgaps, out.dtype), slope)


def _reciprocal_off_diagonal(gaps: Any, dtype: Any) -> Any:
    """``1 / gaps`` off the diagonal, zero on it."""
    same, one = on_diagonal(gaps), scalar(1.0, gaps.dtype)
    result = div_p.bind(one, select_n_p.bind(same, gaps, one))
    result = select_n_p.bind(same, result, scalar(0.0, gaps.dtype))
    if gaps.dtype == dtype:
        return result
    return convert_element_type_p.bind(result, new_dtype=dtype, weak_type=False)


@jvp_rules.register(eig_p)
def _eig(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    compute_left_eigenvectors: bool,
    compute_right_eigenvectors: bool,
    enable_eigvec_derivs: bool,
) -> Many:
    # From A V = V W: with C = V⁻¹ dA V, dw is the diagonal of C, and V⁻¹ dV is C / (w_j - w_i) off
    # the diagonal. Left vectors are right ones of Aᴴ, whose eigenvalues are the conjugate ones.
    wanted = compute_left_eigenvectors, compute_right_eigenvectors
    if any(wanted) and not enable_eigvec_derivs:
        raise NotImplementedError(
            "lax.linalg.eig has derivatives of eigenvectors only with enable_eigvec_derivs=True"
            f"{here()}: they do not exist where eigenvalues are equal, or several elements of an "
            "eigenvector the largest. Pass it, ask for no eigenvectors, or use eigh for Hermitian "
            "matrices."
        )
    # Derivatives of eigenvalues depend on vectors through what has derivatives of all orders.
    w, left, right = eig_p.bind(
        primals[0],
        compute_left_eigenvectors=True,
        compute_right_eigenvectors=True,
        enable_eigvec_derivs=True,
    )
    change = _typed(tangents[0], w.dtype)
    c = _solved(right, matmul(change, right))
    outs, changes = [w], [diagonal(c)]
    if compute_left_eigenvectors:
        d = _solved(left, matmul(adjoint(change), left))
        outs.append(left)
        changes.append(_eigenvectors(conj_p.bind(w), left, d))
    if compute_right_eigenvectors:
        outs.append(right)
        changes.append(_eigenvectors(w, right, c))
    return outs, changes


def _eigenvectors(w: Any, v: Any, c: Any) -> Any:
    """The change of eigenvectors of length 1 whose largest element is real."""
    gaps = sub_p.bind(on_columns(w, v.shape), on_rows(w, v.shape))
    dv = matmul(v, mul_p.bind(_reciprocal_off_diagonal(gaps, v.dtype), c))
    # What is along v itself: none of its length, and what keeps the largest element real.
    rows = len(v.shape) - 2
    along_v = real_p.bind(reduce_sum_p.bind(mul_p.bind(conj_p.bind(v), dv), axes=(rows,)))
    largest = _largest_in_columns(v)
    top, turn = (
        reduce_sum_p.bind(select_n_p.bind(largest, scalar(0.0, x.dtype), x), axes=(rows,))
        for x in (real_p.bind(v), imag_p.bind(dv))
    )
    factor = complex_p.bind(along_v, div_p.bind(turn, top))
    return sub_p.bind(dv, mul_p.bind(v, on_columns(factor, v.shape)))


def _largest_in_columns(v: Any) -> Any:
    """True at the first largest element of each column."""
    rows = len(v.shape) - 2
    positions = argmax_p.bind(abs_p.bind(v), axes=(rows,), index_dtype=INDEX)
    own = iota_p.bind(dtype=INDEX, shape=v.shape, dimension=rows)
    return eq_p.bind(own, on_columns(positions, v.shape))


def _solved(a: Any, b: Any) -> Any:
    """``a⁻¹ b`` by LU."""
    factors, _, permutation = lu_p.bind(a)
    x = solve(factors, taken_rows(b, permutation), left=True, low=True, unit=True)
    return solve(factors, x, left=True, low=False)


@jvp_rules.register(svd_p)
def _svd(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    full_matrices: bool,
    compute_uv: bool,
    algorithm: Any,
) -> Many:
    # From A = U S Vᴴ: with D = Uᴴ dA V, ds is the real diagonal of D; off the diagonal Uᴴ dU and
    # Vᴴ dV have the sum (D + Dᴴ) / (s_j - s_i) and the difference (D - Dᴴ) / (s_j + s_i).
    x, dx = primals[0], tangents[0]
    m, n = x.shape[-2:]
    if compute_uv and full_matrices and m != n:
        raise NotImplementedError(
            "lax.linalg.svd with full_matrices=True of matrices that are not square has no "
            "derivative: the additional columns of U or V are not determined. Use "
            "full_matrices=False."
        )
    s, u, vh = svd_p.bind(x, full_matrices=False, compute_uv=True, algorithm=algorithm)
    d = matmul(matmul(adjoint(u), dx), adjoint(vh))
    if not compute_uv:
        answer = svd_p.bind(x, full_matrices=full_matrices, compute_uv=False, algorithm=algorithm)
        ds = diagonal(d)
        return answer, [real_p.bind(ds) if d.dtype.kind == "c" else ds]
    ds, du, dv = _changes(s, u, vh, d, dx)
    return [s, u, vh], [ds, du, adjoint(dv)]


def _changes(s: Any, u: Any, vh: Any, d: Any, dx: Any) -> tuple[Any, Any, Any]:
    """Those of singular values and of both vectors."""
    dtype, shape = d.dtype, d.shape
    across, down = on_columns(s, shape), on_rows(s, shape)
    # What turns U and V alike is the quotient with the gap; what turns them against each other, as
    # it turns U Vᴴ, does not depend on it.
    gaps, sums, half = sub_p.bind(across, down), add_p.bind(across, down), scalar(0.5, dtype)
    nothing = eq_p.bind(sums, scalar(0.0, sums.dtype))
    alike, ds = rotations_p.bind(add_p.bind(d, adjoint(d)), gaps, _equal(across, down))
    against = rotations_p.bind(sub_p.bind(d, adjoint(d)), sums, nothing)[0]
    turn_u = mul_p.bind(add_p.bind(alike, against), half)
    turn_v = mul_p.bind(sub_p.bind(alike, against), half)
    if dtype.kind == "c":  # U and V share a phase per column; all of the change is given to U
        zero_s = eq_p.bind(across, scalar(0.0, across.dtype))
        safe = _typed(select_n_p.bind(zero_s, across, scalar(1.0, across.dtype)), dtype)
        phase = div_p.bind(mul_p.bind(sub_p.bind(d, adjoint(d)), scalar(0.5, dtype)), safe)
        only = select_n_p.bind(on_diagonal(phase), scalar(0, dtype), phase)
        turn_u = add_p.bind(turn_u, only)
    v = adjoint(vh)
    du, dv = matmul(u, turn_u), matmul(v, turn_v)
    m, k, n = u.shape[-2], s.shape[-1], v.shape[-2]
    if m > k:
        du = add_p.bind(du, _outside(u, matmul(dx, v), s))
    if n > k:
        dv = add_p.bind(dv, _outside(v, matmul(adjoint(dx), u), s))
    ds = mul_p.bind(ds, half)
    return real_p.bind(ds) if dtype.kind == "c" else ds, du, dv


def _outside(basis: Any, change: Any, s: Any) -> Any:
    """The part of a change that leaves the space of ``basis``, per singular value."""
    inside = matmul(basis, matmul(adjoint(basis), change))
    return div_p.bind(sub_p.bind(change, inside), _typed(on_columns(s, basis.shape), basis.dtype))


def _typed(x: Any, dtype: Any) -> Any:
    if x.dtype == dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)
