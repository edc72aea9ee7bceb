"""Covariance and correlation."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here, type_shardings
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..creation.ranges import linspace
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, DTypeError, DTypeLike, integer, operand
from ..operations import filled, number, reshape as to_shape, select
from ..promotion import INT32, broadcast, convert, default_int, promote
from ..reductions import basic, moments
from ..searching.finding import concrete_value, searchsorted


@reword_errors
@one_call("rowvar", "bias", "ddof", "dtype")
def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None,
    dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """The covariance matrix of variables, one per row (or column, without ``rowvar``).

    Args:
        y: more variables.
        bias, ddof: the sum is divided by the number of observations less ``ddof``, by default 0
            with ``bias`` and 1 without.
        fweights: the number of times each observation was made. aweights: its weight.

    Raises:
        ValueError: ``m`` has more than two dimensions, or weights do not fit.
    """
    from ..contraction.products import dot
    from ..manipulation.joining import concatenate

    given = [m] if y is None else [m, y]
    arrays = [
        _observations(as_array("cov", v, i), rowvar, row=i > 0)
        for i, v in enumerate(promote("cov", *given, inexact=True))
    ]
    x = concatenate(arrays, 0) if len(arrays) > 1 else arrays[0]
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    less = int(not bias) if ddof is None else operand("cov", ddof, 4)
    w = _weights(x, fweights, aweights)
    if w is None:
        centered = lax.sub(x, broadcast(moments.mean(x, 1, keepdims=True), x.shape))
        factor = number(_real_zero(x), max(x.shape[1] - less, 0))
        weighted = centered
    else:
        total = basic.sum(w)
        mean = moments.average(x, 1, weights=w, keepdims=True)
        centered = lax.sub(x, broadcast(mean, x.shape))
        factor = _normalizer(w, total, less, aweights)
        weighted = lax.mul(centered, lax.broadcast_in_dim(convert(w, x.dtype), x.shape, (1,)))
    other = lax.conj(weighted) if x.dtype.kind == "c" else weighted
    out = dot(centered, lax.transpose(other, (1, 0)))
    out = lax.div(out, convert(factor, out.dtype))
    return lax.reshape(out, ()) if out.shape == (1, 1) else out


def _real_zero(x: Any) -> Any:
    return lax.real(x) if x.dtype.kind == "c" else x


def _observations(x: Any, rowvar: bool, row: bool) -> Any:
    """``x`` with one variable per row; with ``row``, a single row is one variable, as in NumPy."""
    if x.ndim > 2:
        raise ValueError(f"cov takes arrays of at most two dimensions, got shape {x.shape}{here()}")
    if x.ndim < 2:  # the observations of one variable
        return to_shape(x, (1, x.size))
    return x if rowvar or (row and x.shape[0] == 1) else lax.transpose(x, (1, 0))


def _weights(x: Any, fweights: Any, aweights: Any) -> Any:
    w = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        g = as_array("cov", given)
        if g.shape != (x.shape[1],):
            raise ValueError(
                f"cov: {name} must have shape {(x.shape[1],)}, one for each observation, got "
                f"{g.shape}{here()}"
            )
        g = convert(g, _real_zero(x).dtype)
        w = g if w is None else lax.mul(w, g)
    return w


def _normalizer(w: Any, total: Any, less: int, aweights: Any) -> Any:
    if less == 0:
        return total
    if aweights is None:
        return lax.sub(total, number(total, less))
    extra = basic.sum(lax.mul(w, convert(as_array("cov", aweights), w.dtype)))
    return lax.sub(total, lax.div(lax.mul(number(total, less), extra), total))


@reword_errors
@one_call("rowvar", "dtype")
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike = None
) -> Array:
    """Correlation coefficients of variables (see :func:`cov`), limited to -1 ... 1."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return lax.div(c, c)
    from ..creation.matrices import diagonal

    spread = lax.sqrt(_real_zero(diagonal(c)))
    both = lax.mul(lax.broadcast_in_dim(spread, c.shape, (0,)),
                   lax.broadcast_in_dim(spread, c.shape, (1,)))  # fmt: skip
    out = lax.div(c, convert(both, c.dtype))
    if out.dtype.kind != "c":
        return lax.clamp(number(out, -1), out, number(out, 1))
    parts = [lax.clamp(number(p, -1), p, number(p, 1)) for p in (lax.real(out), lax.imag(out))]
    return lax.complex(*parts)


@reword_errors
def bincount(
    x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *,
    length: int | None = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The number of occurrences of each integer in a vector, or the sum of its ``weights``.

    Args:
        length: the length of the result, needed while tracing; greater numbers are not counted.

    Raises:
        TypeError: ``x`` is not of integers.
        ConcretizationTypeError: ``x`` is traced and ``length`` is not given.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, bincount, x, weights, minlength, length=length
        )
    x = as_array("bincount", x)
    if x.ndim != 1:
        raise ValueError(f"bincount takes a vector, got shape {x.shape}{here()}")
    if x.dtype.kind not in "iub":
        raise DTypeError(f"bincount takes integers, got dtype {x.dtype}{here()}")
    least = integer("bincount", "minlength", minlength)
    if length is None:
        values = concrete_value("bincount", x, "Give length=, the length of the result.")
        length = max(int(values.max()) + 1, least) if values.size else least
    w = None if weights is None else as_array("bincount", weights, 1)
    if w is not None and w.shape != x.shape:
        raise ValueError(
            f"bincount: weights of shape {w.shape} for a vector of shape {x.shape}{here()}"
        )
    return _count(x, w, length=integer("bincount", "length", length), dtype=default_int())


@fused(static=("length", "dtype"))
def _count(x: Any, weights: Any, length: int, dtype: Any) -> Any:
    w = lax.full(x.shape, 1, dtype) if weights is None else weights
    x = (
        lax.max(x, number(x, 0))
        if x.dtype.itemsize >= 4
        else lax.max(convert(x, INT32), np.int32(0))
    )
    return lax.scatter_add(
        filled(w, (length,), 0), lax.reshape(x, (x.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip


@reword_errors
def histogram_bin_edges(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None
) -> Array:
    """The edges of the bins of :func:`histogram`.

    Raises:
        NotImplementedError: ``bins`` is a name.
        ValueError: ``range`` is no pair.
    """
    if isinstance(bins, str):
        raise NotImplementedError(
            f"histogram: bins={bins!r} is not supported{here()}. Give the number of bins "
            f"or their edges."
        )
    a = as_array("histogram", a)
    (a,) = promote("histogram", a, inexact=True)
    if np.ndim(bins) == 1 or getattr(bins, "ndim", 0) == 1:
        return convert(as_array("histogram", np.asarray(bins) if isinstance(bins, (list, tuple))
                                else bins, 1), a.dtype)  # fmt: skip
    if range is None:
        low, high = (basic.min(a), basic.max(a)) if a.size else (number(a, 0), number(a, 1))
    else:
        low, high = _ends(range, a.dtype)
    flat = lax.eq(low, high)
    half = number(a, 0.5)
    low, high = select(flat, lax.sub(low, half), low), select(flat, lax.add(high, half), high)
    return linspace(low, high, integer("histogram", "bins", bins) + 1, dtype=a.dtype)


def _ends(range: Any, dtype: Any) -> list[Any]:
    ends = [as_array("histogram", r) for r in arguments.items("range", range)]
    if [e.ndim for e in ends] != [0, 0]:
        raise ValueError(f"histogram: range must be a pair of numbers, got {range!r}{here()}")
    return [convert(e, dtype) for e in ends]


@reword_errors
def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """The number of elements in each bin (or the sum of their weights), and the bins' edges.

    Args:
        bins: the number of bins of equal width, or their edges.
        density: divide so that the integral is 1.

    Raises:
        ValueError: weights have another shape than ``a``.
    """
    a = as_array("histogram", a)
    w = None if weights is None else as_array("histogram", weights, 3)
    if w is not None and w.shape != a.shape:
        raise ValueError(
            f"histogram: weights of shape {w.shape} for an array of shape {a.shape}{here()}"
        )
    edges = histogram_bin_edges(a, bins, range, weights)
    a = lax.reshape(a, (a.size,))
    w = filled(edges, (a.size,), 1) if w is None else lax.reshape(w, (w.size,))
    counts = _histogram(convert(a, edges.dtype), w, edges)
    if density:
        widths = lax.sub(lax.slice_in_dim(edges, 1, None), lax.slice_in_dim(edges, 0, -1))
        counts = convert(counts, edges.dtype)
        counts = lax.div(lax.div(counts, widths), basic.sum(counts))
    return counts, edges


@fused()
def _histogram(a: Any, w: Any, edges: Any) -> Any:
    n = edges.shape[0] - 1
    at = searchsorted(edges, a, side="right")
    last = lax.eq(a, lax.index_in_dim(edges, n, 0, keepdims=False))
    at = select(last, number(at, n), at)  # the last bin contains its right edge
    in_bounds = lax.bitwise_and(lax.gt(at, number(at, 0)), lax.le(at, number(at, n)))
    at = select(in_bounds, lax.sub(at, number(at, 1)), number(at, n))
    return lax.scatter_add(
        filled(w, (n,), 0), lax.reshape(at, (at.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip


@reword_errors
def histogram2d(
    x: ArrayLike, y: ArrayLike, bins: Any = 10, range: Any = None,
    weights: ArrayLike | None = None, density: bool | None = None,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """A histogram of points in the plane: counts, and the edges on both axes."""
    sample = lax.stack(promote("histogram2d", x, y), axis=1)
    each = bins
    if not isinstance(bins, (int, tuple, list)) or (
        isinstance(bins, (tuple, list)) and len(bins) not in (1, 2)
    ):
        each = [bins, bins]
    counts, edges = histogramdd(sample, each, range, weights, density)
    return counts, edges[0], edges[1]


@reword_errors
def histogramdd(
    sample: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:  # fmt: skip
    """A histogram of points, one per row: counts, and the edges on each axis.

    Raises:
        ValueError: ``bins`` or ``range`` do not have one entry per axis, ``weights`` one per point.
    """
    points = as_array("histogramdd", sample)
    if points.ndim != 2:
        raise ValueError(f"histogramdd takes one point per row, got shape {points.shape}{here()}")
    n, d = points.shape
    each = list(bins) if isinstance(bins, (list, tuple)) or np.ndim(bins) == 1 else [bins] * d
    each = each * d if len(each) == 1 and d > 1 else each
    ranges = list(range) if range is not None else [None] * d
    if len(each) != d or len(ranges) != d:
        raise ValueError(
            f"histogramdd: bins and range must have {d} entries, one for each axis{here()}"
        )
    columns = [lax.index_in_dim(points, i, 1, keepdims=False) for i in np.arange(d).tolist()]
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, each, ranges)]
    w = lax.full((n,), 1, default_int()) if weights is None else _floats("histogramdd", weights)
    if w.shape != (n,):
        raise ValueError(f"histogramdd: weights of shape {w.shape} for {n} points{here()}")
    counts = _histogramdd(points, w, *edges)
    if density:
        counts = convert(counts, edges[0].dtype)
        total = basic.sum(counts)
        for i, e in enumerate(edges):
            widths = lax.sub(lax.slice_in_dim(e, 1, None), lax.slice_in_dim(e, 0, -1))
            counts = lax.div(counts, lax.broadcast_in_dim(widths, counts.shape, (i,)))
        counts = lax.div(counts, total)
    return counts, edges


def _floats(name: str, weights: ArrayLike) -> Any:
    (w,) = promote(name, weights, inexact=True)
    return as_array(name, w)


@fused()
def _histogramdd(points: Any, w: Any, *edges: Any) -> Any:
    shape = tuple(e.shape[0] - 1 for e in edges)
    size = prod(shape)
    position, outside = lax.full((points.shape[0],), 0, INT32), lax.full((points.shape[0],), False)
    for i, e in enumerate(edges):
        a = convert(lax.index_in_dim(points, i, 1, keepdims=False), e.dtype)
        at = searchsorted(e, a, side="right")
        last = lax.eq(a, lax.index_in_dim(e, shape[i], 0, keepdims=False))
        at = lax.sub(select(last, number(at, shape[i]), at), number(at, 1))
        outside_axis = lax.bitwise_or(lax.lt(at, number(at, 0)), lax.ge(at, number(at, shape[i])))
        outside = lax.bitwise_or(outside, outside_axis)
        position = lax.add(lax.mul(position, number(position, shape[i])), convert(at, INT32))
    position = select(outside, number(position, size), position)
    counts = lax.scatter_add(
        filled(w, (size,), 0), lax.reshape(position, (position.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip
    return lax.reshape(counts, shape)
