"""Norms of vectors and matrices, condition numbers and ranks."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import Tracer, canonical_dtype, here, is_inexact
from dovetail_custom_rules import custom_jvp
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..manipulation.shapes import broadcast_arrays, expand_dims, moveaxis
from ..operands import Array, ArrayLike, Axis, axis_tuple, flag, static_axis
from ..operations import number, select
from ..promotion import broadcast, convert, default_float, inexact_dtype, promote
from ..reductions import basic
from .decompositions import matrices, svdvals
from .solving import inv


@one_call("ord", "axis", "keepdims")
def norm(x: ArrayLike, ord: Any = None, axis: Axis = None, keepdims: bool = False) -> Array:
    """The norm of vectors (one axis) or matrices (two axes); of all elements by default.

    Args:
        ord: for vectors a number, or infinity; for matrices ``"fro"`` (the default), ``"nuc"``,
            1, -1, 2, -2, infinity or its negative.

    Raises:
        ValueError: the order is not one of those, or there are more than two axes.
    """
    (x,) = promote("norm", x, inexact=True)
    x = as_array("norm", x)
    if axis is None and ord is None:
        return _euclidean(x, axes=tuple(range(x.ndim)), keepdims=flag("keepdims", keepdims))
    if axis is None and x.ndim > 2:
        raise ValueError(f"norm: ord={ord!r} needs an axis for an array of shape {x.shape}{here()}")
    axes = axis_tuple("norm", static_axis(axis), x.ndim)
    if len(axes) == 1:
        return _vector(
            x, ord=2 if ord is None else ord, axis=axes[0], keepdims=flag("keepdims", keepdims)
        )
    if len(axes) == 2:
        return _matrix(x, ord, axes, flag("keepdims", keepdims))
    raise ValueError(f"norm: an array has norms over one or two axes, got axis={axis}{here()}")


def _square(x: Any) -> Any:
    if x.dtype.kind == "c":
        re, im = lax.real(x), lax.imag(x)
        return lax.add(lax.mul(re, re), lax.mul(im, im))
    return lax.mul_p.bind(x, x)


def _scaled(x: Any, axes: tuple[int, ...], keepdims: bool) -> tuple[Any, Any]:
    """``x`` times a power of two for each norm, and that power in the shape of the norms.

    Powers of scaled elements neither overflow nor vanish. The power of two has no derivative, and
    the norm does not depend on it. Without 64-bit types, wide numbers are narrowed before.
    """
    x = convert(x, canonical_dtype(x.dtype))
    fixed = lax.stop_gradient(x)
    parts = (lax.real(fixed), lax.imag(fixed)) if x.dtype.kind == "c" else (fixed,)
    sizes = [lax.reduce_max(lax.abs(part), axes) for part in parts]
    power = lax.inverse_power(sizes[0] if len(sizes) == 1 else lax.max(*sizes))
    kept = tuple(i for i in range(x.ndim) if i not in axes)
    spread = convert(lax.broadcast_in_dim(power, x.shape, kept), x.dtype)
    return lax.mul(x, spread), lax.expand_dims(power, axes) if keepdims else power


@fused(static=("axes", "keepdims"))
def _euclidean(x: Any, axes: Any, keepdims: bool) -> Any:
    return _length(convert(x, canonical_dtype(x.dtype)), axes, keepdims, 2)


@partial(custom_jvp, nondiff_argnums=(1, 2, 3))
def _length(x: Any, axes: Any, keepdims: bool, order: float) -> Any:
    """The norm of an order greater than 1."""
    x, power = _scaled(x, axes, keepdims)
    return lax.div(_root_of_powers(x, axes, keepdims, order), power)


def _root_of_powers(x: Any, axes: Any, keepdims: bool, order: Any) -> Any:
    if order == 2:
        return lax.sqrt_p.bind(basic.sum(_square(x), axes, keepdims=keepdims))
    size = lax.abs(x)
    total = basic.sum(lax.pow(size, number(size, order)), axes, keepdims=keepdims)
    return lax.pow(total, number(total, 1.0 / order))


@_length.defjvp
def _(axes: Any, keepdims: bool, order: float, primals: Any, tangents: Any) -> tuple[Any, Any]:
    # The part of the change along x, by numbers of size 1: products of changes, which second
    # derivatives of the formula have, overflow or vanish where the derivative does not.
    (x,), (dx,) = primals, tangents
    scaled, power = _scaled(x, axes, True)
    size = _root_of_powers(scaled, axes, True, order)
    unit = lax.mul(scaled, convert(broadcast(lax.reciprocal(size), x.shape), x.dtype))
    if order != 2:
        part = lax.abs(unit)
        part = convert(lax.pow(part, number(part, order - 1)), x.dtype)
        unit = lax.mul(lax.sign(unit), part)
    along = lax.mul(unit, dx) if x.dtype.kind != "c" else lax.real(lax.mul(lax.conj(unit), dx))
    out = lax.div(size, power)
    out = out if keepdims else lax.squeeze(out, axes)
    return out, basic.sum(along, axes, keepdims=keepdims)


@fused(static=("ord", "axis", "keepdims"))
def _vector(x: Any, ord: Any, axis: Any, keepdims: bool) -> Any:
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    if ord == 2:
        return _euclidean(x, axes=axes, keepdims=keepdims)
    if ord == inf:
        return basic.max(lax.abs(x), axis, keepdims=keepdims)
    if ord == -inf:
        return basic.min(lax.abs(x), axis, keepdims=keepdims)
    if ord == 0:
        nonzero = lax.convert_element_type(lax.ne(x, number(x, 0)), lax.abs(x).dtype)
        return basic.sum(nonzero, axis, keepdims=keepdims)
    if ord == 1:
        return basic.sum(lax.abs(x), axis, keepdims=keepdims)
    if not isinstance(ord, (int, float, np.number)) and not hasattr(ord, "aval"):
        raise ValueError(f"norm: {ord!r} is no order of a vector norm{here()}")
    if not hasattr(ord, "aval") and ord > 1:
        return _length(convert(x, canonical_dtype(x.dtype)), axes, keepdims, float(ord))
    x, scale = _scaled(x, axes, keepdims)
    return lax.div(_root_of_powers(x, axes, keepdims, ord), scale)


def _matrix(x: Any, ord: Any, axes: tuple[int, ...], keepdims: bool) -> Any:
    rows, columns = axes
    if ord in (None, "f", "fro"):
        return _euclidean(x, axes=tuple(sorted(axes)), keepdims=keepdims)
    if ord in (1, -1, inf, -inf) and not isinstance(ord, str):
        over, rest = (rows, columns) if abs(ord) == 1 else (columns, rows)
        sums = basic.sum(lax.abs(x), over, keepdims=True)
        out = (
            basic.max(sums, rest, keepdims=True)
            if ord > 0
            else basic.min(sums, rest, keepdims=True)
        )
        return out if keepdims else lax.squeeze(out, sorted(axes))
    if ord not in (2, -2, "nuc"):
        raise ValueError(
            f"norm: {ord!r} is no order of a matrix norm; use 'fro', 'nuc', 1, -1, 2, -2, inf or "
            f"-inf{here()}"
        )
    s = svdvals(moveaxis(x, axes, (-2, -1)))
    reduce: Any = basic.sum if ord == "nuc" else basic.max if ord == 2 else basic.min
    out = reduce(s, -1)
    return expand_dims(out, tuple(sorted(axes))) if keepdims else out


@reword_errors
def matrix_norm(x: ArrayLike, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """The norm of matrices in the last two axes (see :func:`norm`)."""
    return norm(x, ord, (-2, -1), keepdims)


@reword_errors
@one_call("axis", "keepdims", "ord")
def vector_norm(
    x: ArrayLike, /, *, axis: Axis = None, keepdims: bool = False, ord: Any = 2
) -> Array:
    """The norm of vectors along some axes together, by default of all elements."""
    x = as_array("vector_norm", x)
    if not is_inexact(x.dtype):  # as sums of them are
        x = convert(x, default_float())
    (x,) = promote("vector_norm", x, inexact=True)
    if axis is None:
        axes = tuple(range(x.ndim))
    else:
        axes = axis_tuple("vector_norm", static_axis(axis), x.ndim)
    # Dimension by dimension: one that is divided among devices stays as it is.
    return _vector(x, ord=_order(ord), axis=axes, keepdims=flag("keepdims", keepdims))


def _order(ord: Any) -> Any:
    """An order that is an array as the number that it is, for a static argument."""
    return ord.item() if hasattr(ord, "aval") and not isinstance(ord, Tracer) else ord


@reword_errors
@one_call("p")
def cond(x: ArrayLike, p: Any = None) -> Array:
    """The condition number of matrices: by singular values, or in the norm ``p``.

    Raises:
        ValueError: ``x`` has less than two dimensions, or no elements.
    """
    (a,) = matrices("cond", x)
    if not a.size:
        raise ValueError(f"cond of matrices of shape {a.shape}, which have no elements{here()}")
    if p in (None, 2, -2):
        s = svdvals(a)
        last = s.ndim - 1
        first, end = (lax.index_in_dim(s, i, last, keepdims=False) for i in (0, s.shape[-1] - 1))
        return lax.div(end, first) if p == -2 else lax.div(first, end)
    out = lax.mul(norm(a, p, (-2, -1)), norm(inv(a), p, (-2, -1)))
    # Of a singular matrix it is infinite; NaN only where the matrix has NaN.
    broken = lax.bitwise_and(lax.ne(out, out), lax.bitwise_not(basic.any(lax.ne(a, a), (-2, -1))))
    return select(broken, number(out, inf), out)


@reword_errors
@one_call("hermitian")
def matrix_rank(
    M: ArrayLike, rtol: ArrayLike | None = None, *, hermitian: bool = False,
    tol: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """The number of singular values above ``rtol``, or ``tol``, which both are absolute, as in JAX.

    Where neither is given, the limit is relative to the largest singular value.

    Raises:
        ValueError: both ``rtol`` and ``tol`` are given.
    """
    if rtol is not None and tol is not None:
        raise ValueError(f"matrix_rank takes rtol or tol, not both{here()}")
    a = as_array("matrix_rank", M)
    if a.ndim < 2:
        return lax.convert_element_type(basic.any(lax.ne(a, number(a, 0))), "int32")
    from .decompositions import svd

    s = svd(a, compute_uv=False, hermitian=hermitian)
    given = rtol if tol is None else tol
    if given is not None:
        limit = convert(as_array("matrix_rank", given), s.dtype)
    else:
        relative = max(a.shape[-2:]) * float(dtypes.finfo(inexact_dtype(a.dtype)).eps)
        limit = lax.mul(basic.max(s, -1), convert(relative, s.dtype))
    if limit.ndim:
        s, limit = broadcast_arrays(s, expand_dims(limit, -1))
    return basic.sum(lax.convert_element_type(lax.gt(s, limit), "int32"), -1)
