"""Counting: whole numbers and bins."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.foreign import names_itself
from dovetail_core import here, type_shardings

from .creation.arrays import as_array
from .creation.ranges import linspace
from .fusion import fused
from .operands import Array, ArrayLike, DTypeError, integer
from .operations import filled, number, select
from .promotion import INT32, convert, default_int, promote
from .reductions import basic
from .searching.finding import known, searchsorted


@names_itself
def bincount(
    x: ArrayLike, weights: ArrayLike | None = None, minlength: int = 0, *,
    length: int | None = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """How often each whole number occurs in a vector, or the sum of its ``weights``.

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
        values = known("bincount", x, "Give length=, the length of the result.")
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


@names_itself
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


@names_itself
def histogram(
    a: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, Array]:  # fmt: skip
    """How many elements fall into each bin (or the sum of their weights), and the bins' edges.

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
    inside = lax.bitwise_and(lax.gt(at, number(at, 0)), lax.le(at, number(at, n)))
    at = select(inside, lax.sub(at, number(at, 1)), number(at, n))
    return lax.scatter_add(
        filled(w, (n,), 0), lax.reshape(at, (at.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip


@names_itself
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


@names_itself
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
    place, outside = lax.full((points.shape[0],), 0, INT32), lax.full((points.shape[0],), False)
    for i, e in enumerate(edges):
        a = convert(lax.index_in_dim(points, i, 1, keepdims=False), e.dtype)
        at = searchsorted(e, a, side="right")
        last = lax.eq(a, lax.index_in_dim(e, shape[i], 0, keepdims=False))
        at = lax.sub(select(last, number(at, shape[i]), at), number(at, 1))
        beside = lax.bitwise_or(lax.lt(at, number(at, 0)), lax.ge(at, number(at, shape[i])))
        outside = lax.bitwise_or(outside, beside)
        place = lax.add(lax.mul(place, number(place, shape[i])), convert(at, INT32))
    place = select(outside, number(place, size), place)
    counts = lax.scatter_add(
        filled(w, (size,), 0), lax.reshape(place, (place.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip
    return lax.reshape(counts, shape)
