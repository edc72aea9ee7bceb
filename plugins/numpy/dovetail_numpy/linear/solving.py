"""Linear equations: solutions, inverses, pseudo-inverses, least squares."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_custom_rules import custom_jvp
from dovetail_lax import dtypes

from ..contraction.matmul import matmul
from ..creation.arrays import as_array
from ..creation.matrices import eye
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike
from ..operations import filled, number, reshape as to_shape, select
from ..promotion import broadcast, convert, default_int, promote
from .decompositions import adjoint, matrices, square, svd


@one_call(shared=True)
def solve(a: ArrayLike, b: ArrayLike) -> Array:
    """``x`` with ``a @ x == b``; ``b`` is a vector, or a stack of matrices.

    Raises:
        ValueError: ``a`` is not square, or sizes do not match; names the shapes.
    """
    x, y = promote("solve", a, b, inexact=True)
    x, y = square("solve", x), as_array("solve", y, 1)
    if not y.ndim or y.shape[max(y.ndim - 2, 0)] != x.shape[-1]:
        raise ValueError(
            f"solve: matrices of shape {x.shape} for right sides of shape {y.shape}{here()}"
        )
    if y.ndim == 1:
        out = _solve(x, to_shape(y, (y.size, 1)))
        return lax.squeeze(out, (out.ndim - 1,))
    return _solve(x, y)


@fused()
def _solve(a: Any, b: Any) -> Any:
    batch = lax.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    a, b = broadcast(a, (*batch, *a.shape[-2:])), broadcast(b, (*batch, *b.shape[-2:]))
    factors, _, permutation = lax.linalg.lu(a)
    from ..indexing.taking import take_along_axis

    rows = lax.broadcast_in_dim(permutation, (*b.shape[:-1], 1), range(b.ndim - 1))
    y = take_along_axis(b, rows, axis=-2, mode="promise_in_bounds", wrap_negative_indices=False)
    y = lax.linalg.triangular_solve(factors, y, left_side=True, lower=True, unit_diagonal=True)
    return lax.linalg.triangular_solve(factors, y, left_side=True, lower=False)


@one_call(shared=True)
def inv(a: ArrayLike) -> Array:
    """The inverse of square matrices.

    Raises:
        ValueError: they are not square.
    """
    x = square("inv", a)
    return _solve(x, broadcast(eye(x.shape[-1], dtype=x.dtype), x.shape))


@reword_errors
@one_call("hermitian")
def pinv(
    a: ArrayLike, rtol: ArrayLike | None = None, hermitian: bool = False, *,
    rcond: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The pseudo-inverse of matrices.

    Args:
        rtol (or rcond): singular values below it times the largest count as zero.

    Raises:
        ValueError: both of them are given, or ``a`` is no matrix.
    """
    if rtol is not None and rcond is not None:
        raise ValueError(f"pinv: rcond is another name of rtol, and both are given{here()}")
    (x,) = matrices("pinv", a)
    rows, columns = x.shape[-2:]
    if not x.size:
        return filled(x, (*x.shape[:-2], columns, rows), 0)
    given = rtol if rtol is not None else rcond
    if given is None:
        given = 10.0 * max(rows, columns) * float(dtypes.finfo(x.dtype).eps)
    limit = convert(as_array("pinv", given, 1), dtypes.finfo(x.dtype).dtype)
    return _pseudo_inverse(x, lax.stop_gradient(limit), bool(hermitian))


@partial(custom_jvp, nondiff_argnums=(2,))
def _pseudo_inverse(x: Any, limit: Any, hermitian: bool) -> Any:
    """The pseudo-inverse by the singular values above ``limit`` times the largest.

    It has derivatives where singular values are equal, too, which their vectors have not.
    """
    u, s, vh = svd(x, full_matrices=False, hermitian=hermitian)
    limit = broadcast(lax.expand_dims(limit, (limit.ndim,)), (*s.shape[:-1], 1))
    largest = lax.slice_in_dim(s, 0, 1, axis=s.ndim - 1)
    keep = lax.gt(s, broadcast(lax.mul(limit, largest), s.shape))
    inverse = select(keep, lax.reciprocal(select(keep, s, number(s, 1))), number(s, 0))
    scaled = lax.mul(adjoint(u), lax.broadcast_in_dim(
        convert(inverse, u.dtype), adjoint(u).shape, range(u.ndim - 1)))  # fmt: skip
    return matmul(adjoint(vh), scaled)


@_pseudo_inverse.defjvp
def _(hermitian: bool, primals: Any, tangents: Any) -> tuple[Any, Any]:
    # dP = -P dA P + P Pᴴ dAᴴ (1 - A P) + (1 - P A) dAᴴ Pᴴ P: Golub and Pereyra, SIAM Journal on
    # Numerical Analysis 10 (1973), where the rank stays.
    (a, limit), (da, _) = primals, tangents
    p, turned = _pseudo_inverse(a, limit, hermitian), adjoint(da)
    ph = adjoint(p)
    # The projections A P and P A of factors of size 1: cotangents go through one after the other.
    size = lax.stop_gradient(lax.reduce_max(lax.abs(a), (a.ndim - 2, a.ndim - 1)))
    size = convert(select(lax.gt(size, number(size, 0)), size, number(size, 1)), a.dtype)
    one = lax.div(a, lax.broadcast_in_dim(size, a.shape, range(a.ndim - 2)))
    other = lax.mul(p, lax.broadcast_in_dim(size, p.shape, range(a.ndim - 2)))
    rows = lax.sub(turned, matmul(matmul(turned, one), other))
    columns = lax.sub(turned, matmul(other, matmul(one, turned)))
    outer = lax.add(matmul(p, matmul(ph, rows)), matmul(matmul(columns, ph), p))
    return p, lax.sub(outer, matmul(matmul(p, da), p))


@reword_errors
def lstsq(
    a: ArrayLike, b: ArrayLike, rcond: float | None = None, *, numpy_resid: bool = False
) -> tuple[Array, Array, Array, Array]:
    """The least squares solution of ``a @ x == b``: ``x``, residuals, rank and singular values.

    Args:
        rcond: singular values below it times the largest count as zero.
        numpy_resid: residuals are empty where NumPy's are: if the rank is deficient (not while
            tracing), or there are not more rows than columns.

    Raises:
        ValueError: ``a`` is not a matrix, or the numbers of rows differ.
    """
    solution, residuals, rank, s = _least_squares(a, b, rcond)
    if numpy_resid:
        rows, columns = as_array("lstsq", a).shape
        if rows <= columns or int(rank) < columns:
            residuals = filled(residuals, (0,), 0)
    return solution, residuals, rank, s


@one_call("rcond")
def _least_squares(a: Any, b: Any, rcond: float | None) -> tuple[Any, Any, Any, Any]:
    x, y = (as_array("lstsq", v, i) for i, v in enumerate(promote("lstsq", a, b, inexact=True)))
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        raise ValueError(f"lstsq: shapes {x.shape} and {y.shape} do not fit{here()}")
    vector = y.ndim == 1
    limit = float(dtypes.finfo(x.dtype).eps) * max(x.shape) if rcond is None or rcond < 0 else rcond
    solution, residuals, rank, s = _lstsq(x, lax.expand_dims(y, (1,)) if vector else y,
                                          rcond=float(limit))  # fmt: skip
    rank = convert(rank, default_int())
    return (lax.squeeze(solution, (1,)) if vector else solution), residuals, rank, s


@fused(static=("rcond",), shared=True)
def _lstsq(a: Any, b: Any, rcond: float) -> tuple[Any, Any, Any, Any]:
    u, s, vh = svd(a, full_matrices=False)
    if not s.shape[0]:  # no column, or no row: the least solution is 0
        square = lax.real(lax.mul(b, lax.conj(b))) if b.dtype.kind == "c" else lax.mul(b, b)
        nothing = lax.full((a.shape[1], b.shape[1]), 0, b.dtype)
        return nothing, lax.reduce_sum(square, (0,)), lax.full((), 0, np.int32), s
    keep = lax.ge(s, lax.mul(lax.slice_in_dim(s, 0, 1), number(s, rcond)) if s.shape[0] <= 1 else
                  lax.broadcast_in_dim(lax.mul(lax.slice_in_dim(s, 0, 1), number(s, rcond)),
                                       s.shape, (0,)))  # fmt: skip
    keep = lax.bitwise_and(keep, lax.gt(s, number(s, 0)))
    rank = lax.reduce_sum(lax.convert_element_type(keep, np.int32), (0,))
    inverse = select(keep, lax.reciprocal(select(keep, s, number(s, 1))), number(s, 0))
    projected = matmul(adjoint(u), b)
    scaled = lax.mul(
        projected, lax.broadcast_in_dim(convert(inverse, b.dtype), projected.shape, (0,))
    )
    x = matmul(adjoint(vh), scaled)
    rest = lax.abs(lax.sub(b, matmul(a, x)))
    return x, lax.reduce_sum(lax.mul(rest, rest), (0,)), rank, s


@reword_errors
def tensorsolve(a: ArrayLike, b: ArrayLike, axes: Any = None) -> Array:
    """``x`` with ``tensordot(a, x, x.ndim) == b``."""
    from ..manipulation.shapes import moveaxis

    x, y = (as_array("tensorsolve", v, i) for i, v in enumerate(promote("tensorsolve", a, b)))
    if axes is not None:
        x = moveaxis(x, tuple(axes), tuple(range(x.ndim - len(axes), x.ndim)))
    shape = x.shape[y.ndim :]
    if prod(shape) != y.size:
        raise ValueError(f"tensorsolve: shapes {x.shape} and {y.shape} do not fit{here()}")
    return to_shape(solve(to_shape(x, (y.size, y.size)), to_shape(y, (y.size,))), shape)


@reword_errors
def tensorinv(a: ArrayLike, ind: int = 2) -> Array:
    """The inverse of a tensor as a map from its last dimensions to its first ``ind`` ones."""
    x = as_array("tensorinv", a)
    if ind < 1 or prod(x.shape[:ind]) != prod(x.shape[ind:]):
        raise ValueError(f"tensorinv: shape {x.shape} is not square for ind={ind}{here()}")
    n = prod(x.shape[:ind])
    return to_shape(inv(to_shape(x, (n, n))), (*x.shape[ind:], *x.shape[:ind]))
