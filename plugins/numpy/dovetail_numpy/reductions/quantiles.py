"""Order statistics: medians, quantiles and percentiles."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here, is_inexact, type_shardings

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, Axis, UnsupportedError, flag, no_out
from ..operations import filled, number, reshape as to_shape, select, strong, transpose as permute
from ..promotion import convert, inexact_dtype, promote
from .engine import reduced_axes

_METHODS = ("linear", "lower", "higher", "midpoint", "nearest", "inverted_cdf")


def _quantile(
    name: str, a: ArrayLike, q: ArrayLike, axis: Any, out: Any, overwrite_input: bool, method: str,
    keepdims: bool, weights: Any, skip_nan: bool, scale: float,
) -> Array:  # fmt: skip
    no_out(name, out)
    if overwrite_input:
        raise ValueError(f"{name}: overwrite_input is not supported: arrays are immutable{here()}")
    if method not in _METHODS:
        raise ValueError(
            f"{name}: method must be one of {', '.join(_METHODS)}, got {method!r}{here()}"
        )
    a, q = as_array(name, a), as_array(name, q, 1)
    if a.dtype.kind == "c":
        raise ValueError(f"{name} does not accept complex numbers, which have no order{here()}")
    (a,) = promote(name, a, inexact=True)
    real = a.dtype
    q = convert(q, real if is_inexact(real) else inexact_dtype(q.dtype))
    if scale != 1:
        q = lax.div(q, number(q, scale))
    axes = reduced_axes(name, axis, a.ndim)
    if not all(a.shape[i] for i in axes):
        lead = [1 if i in axes else d for i, d in enumerate(a.shape) if keepdims or i not in axes]
        return lax.full((*q.shape, *lead), float("nan"), a.dtype)
    if weights is not None:
        return _by_weights(name, a, q, weights, axis, axes, method, keepdims, skip_nan)
    return _run(
        a, q, axes=axes, method=method, keepdims=flag("keepdims", keepdims), skip_nan=skip_nan
    )


def _rows(a: Any, axes: tuple[int, ...]) -> Any:
    """The reduced axes as one last axis."""
    valid = tuple([i for i in range(a.ndim) if i not in axes])
    size = 1
    for i in axes:
        size *= a.shape[i]
    return to_shape(permute(a, (*valid, *axes)), (*[a.shape[i] for i in valid], size))


@fused(static=("axes", "method", "keepdims", "skip_nan"), shared=True)
def _run(a: Any, q: Any, axes: Any, method: str, keepdims: bool, skip_nan: bool) -> Any:
    shape = a.shape
    rows = _rows(a, axes)
    size = rows.shape[-1]
    missing = lax.ne(rows, rows)
    last = rows.ndim - 1
    ordered = lax.sort(rows, dimension=last)  # NaN last
    lead = rows.shape[:-1]
    if skip_nan:
        valid = lax.reduce_sum(lax.convert_element_type(lax.bitwise_not(missing), a.dtype), (last,))
    else:
        valid = filled(a, lead, size)
    out = _at_quantiles(ordered, q, valid, lead, method)
    nothing = lax.eq(valid, number(valid, 0)) if skip_nan else lax.reduce_or(missing, (last,))
    out = strong(_undefined(nothing, q, out))
    if not keepdims:
        return out
    base = [1 if i in axes else d for i, d in enumerate(shape)]
    return to_shape(out, (*q.shape, *base))


def _undefined(rows: Any, q: Any, out: Any) -> Any:
    """``out`` with NaN for the rows that ``rows`` marks, and where a quantile itself is NaN."""
    rows = lax.broadcast_in_dim(rows, out.shape, range(q.ndim, out.ndim))
    levels = lax.broadcast_in_dim(lax.ne(q, q), out.shape, range(q.ndim))
    return select(lax.bitwise_or(rows, levels), number(out, float("nan")), out)


def _at_quantiles(ordered: Any, q: Any, valid: Any, lead: Any, method: str) -> Any:
    """Quantiles ``q`` of sorted rows of which the first ``valid`` elements count."""
    full = (*q.shape, *lead)
    q = lax.broadcast_in_dim(q, full, range(q.ndim))
    valid = lax.broadcast_in_dim(valid, full, range(len(full) - len(lead), len(full)))
    top = lax.max(lax.sub(valid, number(valid, 1)), number(valid, 0))
    if method == "inverted_cdf":
        at = lax.sub(lax.ceil(lax.mul(q, valid)), number(q, 1))
        low = high = lax.max(number(at, 0), lax.min(at, top))
        fraction = None
    else:
        at = lax.mul(q, top)
        low, high = lax.floor(at), lax.ceil(at)
        fraction = lax.sub(at, low)
        low, high = (lax.max(number(at, 0), lax.min(v, top)) for v in (low, high))
    small, great = (_at(ordered, v, lead) for v in (low, high))
    return _combined(small, great, fraction, method)


def _combined(small: Any, great: Any, fraction: Any, method: str) -> Any:
    if method in ("lower", "inverted_cdf"):
        return small
    if method == "higher":
        return great
    if method == "midpoint":
        return lax.mul(lax.add(small, great), number(small, 0.5))
    if method == "nearest":
        half = number(fraction, 0.5)
        return select(lax.le(fraction, half), small, great)
    # Weighted so that equal neighbours, infinite ones too, give themselves, and both derivatives.
    mixed = lax.add(
        lax.mul(small, lax.sub(number(fraction, 1), fraction)), lax.mul(great, fraction)
    )
    difference = select(lax.is_finite(small), lax.sub(great, small), number(small, 0))
    return select(lax.eq(small, great), lax.add(small, lax.mul(difference, fraction)), mixed)


def _at(ordered: Any, positions: Any, lead: Any) -> Any:
    """Elements of sorted rows at floating-point whole ``positions`` of shape ``q.shape + lead``."""
    from ..indexing.taking import take_along_axis

    positions = lax.convert_element_type(positions, np.int32)
    count = positions.size // max(1, int(np.prod(lead, dtype=int))) if positions.size else 0
    flat = lax.reshape(positions, (count, *lead))
    moved = permute(flat, (*range(1, len(lead) + 1), 0))
    result = take_along_axis(ordered, moved, axis=-1, mode="promise_in_bounds",
                            wrap_negative_indices=False)  # fmt: skip
    return lax.reshape(permute(result, (len(lead), *range(len(lead)))), positions.shape)


def _by_weights(
    name: str, a: Any, q: Any, weights: Any, axis: Any, axes: Any, method: str, keepdims: bool,
    skip_nan: bool,
) -> Any:  # fmt: skip
    if method != "inverted_cdf":
        raise UnsupportedError(
            f"{name}: weights need method='inverted_cdf', got {method!r}{here()}"
        )
    w = as_array(name, weights)
    if w.shape != a.shape:
        if axis is None or w.shape != tuple(a.shape[i] for i in axes):
            raise ValueError(
                f"{name}: weights of shape {w.shape} match neither the array's shape {a.shape} nor "
                f"its axes{here()}"
            )
        w = lax.broadcast_in_dim(w, a.shape, axes)
    w = convert(w, a.dtype)
    out = _weighted(_rows(a, axes), _rows(w, axes), q, skip_nan=skip_nan)
    if keepdims:
        base = [1 if i in axes else d for i, d in enumerate(a.shape)]
        return to_shape(out, (*q.shape, *base))
    return out


@fused(static=("skip_nan",), shared=True)
def _weighted(rows: Any, weights: Any, q: Any, skip_nan: bool) -> Any:
    last = rows.ndim - 1
    missing = lax.ne(rows, rows)
    if skip_nan:
        weights = select(missing, number(weights, 0), weights)
    ordered, ranked = lax.sort((rows, weights), dimension=last, num_keys=1)
    running = lax.cumsum(ranked, axis=last)
    total = lax.index_in_dim(running, rows.shape[-1] - 1, last, keepdims=False)
    full = (*q.shape, *rows.shape)
    shift = range(q.ndim, len(full))
    rows_of = range(q.ndim, len(full) - 1)
    level = lax.mul(
        lax.broadcast_in_dim(q, full[:-1], range(q.ndim)),
        lax.broadcast_in_dim(total, full[:-1], rows_of),
    )
    below = lax.lt(lax.broadcast_in_dim(running, full, shift),
                   lax.broadcast_in_dim(level, full, range(len(full) - 1)))  # fmt: skip
    # The first element whose running weight reaches the level; of weight zero none is chosen.
    empty = lax.broadcast_in_dim(lax.eq(running, number(running, 0)), full, shift)
    skip = lax.bitwise_or(below, empty)
    count = lax.reduce_sum(lax.convert_element_type(skip, rows.dtype), (len(full) - 1,))
    count = lax.min(count, number(count, rows.shape[-1] - 1))
    out = _at(ordered, count, rows.shape[:-1])
    bad = lax.full_like(total, False, bool) if skip_nan else lax.reduce_or(missing, (last,))
    return _undefined(bad, q, out)


@reword_errors
@one_call("axis", "out", "overwrite_input", "method", "keepdims")
def quantile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Quantiles ``q`` (from 0 to 1) over ``axis``; NaN where there is a NaN, or no element.

    Args:
        q: a number or an array, whose dimensions come first in the result.
        method: ``"linear"``, ``"lower"``, ``"higher"``, ``"midpoint"``, ``"nearest"`` or
            ``"inverted_cdf"`` (the one that takes ``weights``).

    Raises:
        ValueError: the method is unknown, or ``a`` is complex.
    """
    return _quantile("quantile", a, q, axis, out, overwrite_input, method, keepdims, weights,
                     False, 1)  # fmt: skip


@reword_errors
@one_call("axis", "out", "overwrite_input", "method", "keepdims")
def nanquantile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Quantiles of elements that are not NaN (see :func:`quantile`)."""
    return _quantile("nanquantile", a, q, axis, out, overwrite_input, method, keepdims, weights,
                     True, 1)  # fmt: skip


@reword_errors
@one_call("axis", "out", "overwrite_input", "method", "keepdims", "out_sharding")
def percentile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:  # fmt: skip
    """Percentiles ``q`` (from 0 to 100) over ``axis`` (see :func:`quantile`)."""
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            percentile,
            a,
            q,
            axis,
            out,
            overwrite_input,
            method,
            keepdims,
            weights=weights,
        )
    return _quantile("percentile", a, q, axis, out, overwrite_input, method, keepdims, weights,
                     False, 100)  # fmt: skip


@reword_errors
@one_call("axis", "out", "overwrite_input", "method", "keepdims")
def nanpercentile(
    a: ArrayLike, q: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Percentiles of elements that are not NaN (see :func:`quantile`)."""
    return _quantile("nanpercentile", a, q, axis, out, overwrite_input, method, keepdims, weights,
                     True, 100)  # fmt: skip


@one_call("axis", "out", "overwrite_input", "keepdims", shared=True)
def median(
    a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The median over ``axis``; NaN where there is a NaN."""
    return _quantile("median", a, 0.5, axis, out, overwrite_input, "midpoint", keepdims, None,
                     False, 1)  # fmt: skip


@reword_errors
@one_call("axis", "out", "overwrite_input", "keepdims")
def nanmedian(
    a: ArrayLike, axis: Axis = None, out: None = None, overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:  # fmt: skip
    """The median over ``axis`` of elements that are not NaN."""
    return _quantile("nanmedian", a, 0.5, axis, out, overwrite_input, "midpoint", keepdims, None,
                     True, 1)  # fmt: skip
