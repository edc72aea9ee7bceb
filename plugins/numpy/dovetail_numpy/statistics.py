"""Statistics of samples: covariance, correlation, histograms, counts, interpolation."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import numpy as np
from dovetail_lax import dtypes

from .creation.arrays import as_array
from .creation.ranges import linspace
from .fusion import fused
from .operands import Array, ArrayLike, DTypeLike, integer
from .operations import number, reshape as to_shape, select
from .promotion import INT32, broadcast, convert, default_int, promote
from .reductions import basic, moments
from .searching.finding import known, searchsorted


def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None,
    *, dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """The covariance matrix of variables, one per row (or column, without ``rowvar``).

    Args:
        y: more variables.
        bias, ddof: what the sum is divided by: the number of observations less ``ddof``, by
            default 0 with ``bias`` and 1 without.
        fweights: how often each observation was made. aweights: how much it counts.

    Raises:
        ValueError: ``m`` has more than two dimensions, or weights do not fit.
    """
    from .contraction.products import dot
    from .manipulation.joining import concatenate

    given = [v for v in (m, y) if v is not None]
    arrays = [_observations(as_array("cov", v), rowvar) for v in promote("cov", *given, inexact=True)]
    x = concatenate(arrays, 0) if len(arrays) > 1 else arrays[0]
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    less = ddof if ddof is not None else int(not bias)
    w = _weights(x, fweights, aweights)
    if w is None:
        centered = lax.sub(x, broadcast(moments.mean(x, 1, keepdims=True), x.shape))
        factor = number(_real_zero(x), x.shape[1] - less)
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


def _observations(x: Any, rowvar: bool) -> Any:
    if x.ndim > 2:
        raise ValueError(f"cov takes arrays of at most two dimensions, got shape {x.shape}")
    if x.ndim < 2:
        return to_shape(x, (1, x.size))
    return x if rowvar or x.shape[0] == 1 else lax.transpose(x, (1, 0))


def _weights(x: Any, fweights: Any, aweights: Any) -> Any:
    w = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        g = as_array("cov", given)
        if g.shape != (x.shape[1],):
            raise ValueError(
                f"cov: {name} must have shape {(x.shape[1],)}, one for each observation, got {g.shape}"
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


def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike = None
) -> Array:
    """Correlation coefficients of variables (see :func:`cov`), limited to -1 ... 1."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return lax.div(c, c)
    from .creation.matrices import diagonal

    spread = lax.sqrt(_real_zero(diagonal(c)))
    both = lax.mul(lax.broadcast_in_dim(spread, c.shape, (0,)),
                   lax.broadcast_in_dim(spread, c.shape, (1,)))  # fmt: skip
    out = lax.div(c, convert(both, c.dtype))
    if out.dtype.kind != "c":
        return lax.clamp(number(out, -1), out, number(out, 1))
    parts = [lax.clamp(number(p, -1), p, number(p, 1)) for p in (lax.real(out), lax.imag(out))]
    return lax.complex(*parts)


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
    x = as_array("bincount", x)
    if x.ndim != 1:
        raise ValueError(f"bincount takes a vector, got shape {x.shape}")
    if x.dtype.kind not in "iu":
        raise TypeError(f"bincount takes integers, got dtype {x.dtype}")
    least = integer("bincount", "minlength", minlength)
    if length is None:
        values = known("bincount", x, "Give length=, the length of the result.")
        length = int(max(0, *(values.max(initial=-1) + 1,), least)) if values.size else least
    w = None if weights is None else as_array("bincount", weights, 1)
    if w is not None and w.shape != x.shape:
        raise ValueError(f"bincount: weights of shape {w.shape} for a vector of shape {x.shape}")
    return _count(x, w, length=integer("bincount", "length", length), dtype=default_int())


@fused(static=("length", "dtype"))
def _count(x: Any, weights: Any, length: int, dtype: Any) -> Any:
    w = lax.full(x.shape, 1, dtype) if weights is None else weights
    x = lax.max(convert(x, INT32) if x.dtype.itemsize < 4 else x, number(convert(x, INT32), 0)
                if x.dtype.itemsize < 4 else number(x, 0))  # fmt: skip
    return lax.scatter_add(
        lax.full((length,), number(w, 0)), lax.reshape(x, (x.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip


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
            f"histogram: bins={bins!r} is not supported. Give the number of bins or their edges."
        )
    a = as_array("histogram", a)
    (a,) = promote("histogram", a, inexact=True)
    if np.ndim(bins) == 1 or getattr(bins, "ndim", 0) == 1:
        return convert(as_array("histogram", np.asarray(bins) if isinstance(bins, (list, tuple))
                                else bins, 1), a.dtype)  # fmt: skip
    if range is None:
        low, high = (basic.min(a), basic.max(a)) if a.size else (number(a, 0), number(a, 1))
    else:
        low, high = (convert(as_array("histogram", r), a.dtype) for r in range)
    flat = lax.eq(low, high)
    half = number(a, 0.5)
    low, high = select(flat, lax.sub(low, half), low), select(flat, lax.add(high, half), high)
    return linspace(low, high, integer("histogram", "bins", bins) + 1, dtype=a.dtype)


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
        raise ValueError(f"histogram: weights of shape {w.shape} for an array of shape {a.shape}")
    edges = histogram_bin_edges(a, bins, range, weights)
    a = lax.reshape(a, (a.size,))
    w = lax.full((a.size,), number(edges, 1)) if w is None else lax.reshape(w, (w.size,))
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
        lax.full((n,), number(w, 0)), lax.reshape(at, (at.size, 1)), w,
        lax.ScatterDimensionNumbers((), (0,), (0,)), mode="drop",
    )  # fmt: skip


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


def histogramdd(
    sample: ArrayLike, bins: Any = 10, range: Any = None, weights: ArrayLike | None = None,
    density: bool | None = None,
) -> tuple[Array, list[Array]]:  # fmt: skip
    """A histogram of points, one per row: counts, and the edges on each axis.

    Raises:
        ValueError: ``bins`` or ``range`` do not have one entry per axis.
    """
    points = as_array("histogramdd", sample)
    if points.ndim != 2:
        raise ValueError(f"histogramdd takes one point per row, got shape {points.shape}")
    n, d = points.shape
    each = list(bins) if isinstance(bins, (list, tuple)) else [bins] * d
    each = each * d if len(each) == 1 and d > 1 else each
    ranges = list(range) if range is not None else [None] * d
    if len(each) != d or len(ranges) != d:
        raise ValueError(f"histogramdd: bins and range must have {d} entries, one for each axis")
    columns = [lax.index_in_dim(points, i, 1, keepdims=False) for i in np.arange(d).tolist()]
    edges = [histogram_bin_edges(c, b, r) for c, b, r in zip(columns, each, ranges)]
    w = lax.full((n,), number(edges[0], 1)) if weights is None else as_array("histogramdd", weights)
    counts = _histogramdd(points, w, *edges)
    if density:
        total = basic.sum(counts)
        for i, e in enumerate(edges):
            widths = lax.sub(lax.slice_in_dim(e, 1, None), lax.slice_in_dim(e, 0, -1))
            counts = lax.div(counts, lax.broadcast_in_dim(widths, counts.shape, (i,)))
        counts = lax.div(counts, total)
    return counts, edges


@fused()
def _histogramdd(points: Any, w: Any, *edges: Any) -> Any:
    shape = tuple(e.shape[0] - 1 for e in edges)
    columns = []
    for i, e in enumerate(edges):
        a = convert(lax.index_in_dim(points, i, 1, keepdims=False), e.dtype)
        at = searchsorted(e, a, side="right")
        last = lax.eq(a, lax.index_in_dim(e, shape[i], 0, keepdims=False))
        at = lax.sub(select(last, number(at, shape[i]), at), number(at, 1))
        outside = lax.bitwise_or(lax.lt(at, number(at, 0)), lax.ge(at, number(at, shape[i])))
        columns.append(select(outside, number(at, shape[i]), at))
    vectors = lax.stack(columns, axis=1)
    axes = tuple(range(len(shape)))
    return lax.scatter_add(lax.full(shape, number(w, 0)), vectors, w,
                           lax.ScatterDimensionNumbers((), axes, axes), mode="drop")  # fmt: skip


def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None, period: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Piecewise linear interpolation at ``x`` of the points ``(xp, fp)``, ``xp`` increasing.

    Args:
        left, right: values outside of the points (default: those at the ends), or
            ``"extrapolate"``.
        period: the period of ``x``; then ``xp`` need not be sorted.

    Raises:
        ValueError: ``xp`` and ``fp`` are not vectors of one length, or ``period`` is 0.
    """
    for name, edge in (("left", left), ("right", right)):
        if isinstance(edge, str) and edge != "extrapolate":
            raise ValueError(f"interp: {name} must be a number or 'extrapolate', got {edge!r}")
    x, xp = (as_array("interp", v) for v in promote("interp", x, xp, inexact=True))
    (fp,) = promote("interp", fp, inexact=True)
    fp = as_array("interp", fp, 2)
    if xp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError(
            f"interp: xp and fp must be vectors of one length, got shapes {xp.shape} and {fp.shape}"
        )
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    ends = [None if e is None or isinstance(e, str) else convert(as_array("interp", e), fp.dtype)
            for e in (left, right)]  # fmt: skip
    return _interp(x, xp, fp, *ends, extend_left=isinstance(left, str),
                   extend_right=isinstance(right, str))  # fmt: skip


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    from .ufuncs.arithmetic import REMAINDER

    if not hasattr(period, "aval") and period == 0:
        raise ValueError("interp: the period must not be 0")
    p = lax.abs(convert(as_array("interp", period), x.dtype))
    x, xp = REMAINDER(x, p), REMAINDER(xp, p)
    xp, fp = lax.sort((xp, fp), num_keys=1)
    n = xp.shape[0]
    ends = [lax.slice_in_dim(v, i, i + 1) for v in (xp, fp) for i in (n - 1, 0)]
    shift = lax.reshape(p, (1,))
    xp = lax.concatenate([lax.sub(ends[0], shift), xp, lax.add(ends[1], shift)], 0)
    return x, xp, lax.concatenate([ends[2], fp, ends[3]], 0)


@fused(static=("extend_left", "extend_right"))
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, extend_left: bool, extend_right: bool
) -> Any:
    from .indexing.taking import take_along

    n = xp.shape[0]
    at = lax.clamp(np.int32(1), convert(searchsorted(xp, x, "right"), INT32), np.int32(max(n - 1, 1)))
    before = lax.sub(at, np.int32(1))
    x0, x1 = take_along(xp, before, 0), take_along(xp, at, 0)
    f0, f1 = take_along(fp, before, 0), take_along(fp, at, 0)
    width = lax.sub(x1, x0)
    flat = lax.le(lax.abs(width), number(width, float(lax.dtypes.finfo(xp.dtype).eps) ** 2))
    slope = lax.div(convert(lax.sub(x, x0), fp.dtype),
                    convert(select(flat, number(width, 1), width), fp.dtype))  # fmt: skip
    out = select(flat, f0, lax.add(f0, lax.mul(slope, lax.sub(f1, f0))))
    first, last = lax.index_in_dim(xp, 0, 0, False), lax.index_in_dim(xp, n - 1, 0, False)
    if not extend_left:
        low = lax.index_in_dim(fp, 0, 0, False) if left is None else left
        out = select(lax.lt(x, first), low, out)
    if not extend_right:
        high = lax.index_in_dim(fp, n - 1, 0, False) if right is None else right
        out = select(lax.gt(x, last), high, out)
    return out
