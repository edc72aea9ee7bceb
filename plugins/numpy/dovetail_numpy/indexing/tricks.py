"""Indices of triangles and diagonals, flat and multi-dimensional indices, and index expressions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.arguments import array_of
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_lax import dtypes

from ..creation import placement
from ..creation.arrays import as_array, asarray
from ..creation.ranges import arange, linspace
from ..manipulation.joining import concatenate
from ..operands import Array, ArrayLike, DTypeLike, integer, shape_tuple
from ..operations import number, reshape as to_shape, select
from ..promotion import convert, default_int, promote

index_exp = np.index_exp
s_ = np.s_


def _host_indices(result: Any) -> tuple[Array, ...]:
    return tuple(placement.constant(np.asarray(i).astype(default_int())) for i in result)


@reword_errors
def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the lower triangle of an ``n`` by ``m`` matrix."""
    offset = integer("tril_indices", "k", k)
    rows, columns = _host_indices(np.tril_indices(n, offset, m))
    return rows, columns


@reword_errors
def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[Array, Array]:
    """The indices of the upper triangle of an ``n`` by ``m`` matrix."""
    offset = integer("triu_indices", "k", k)
    rows, columns = _host_indices(np.triu_indices(n, offset, m))
    return rows, columns


@reword_errors
def tril_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The indices of the lower triangle of a matrix."""
    return tril_indices(*_matrix_shape("tril_indices_from", arr, k))


@reword_errors
def triu_indices_from(arr: ArrayLike, k: int = 0) -> tuple[Array, Array]:
    """The indices of the upper triangle of a matrix."""
    return triu_indices(*_matrix_shape("triu_indices_from", arr, k))


def _matrix_shape(name: str, arr: ArrayLike, k: int) -> tuple[int, int, int]:
    shape = arr.shape if hasattr(arr, "aval") else np.shape(array_of(arr))
    if len(shape) != 2:
        raise ValueError(f"{name} takes a matrix, got shape {shape}{here()}")
    return shape[0], k, shape[1]


@reword_errors
def diag_indices(n: int, ndim: int = 2) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array of ``ndim`` dimensions of size ``n``."""
    size, count = integer("diag_indices", "n", n), integer("diag_indices", "ndim", ndim)
    if size < 0 or count < 0:
        raise ValueError(
            f"diag_indices: n and ndim must not be negative, got {n} and {ndim}{here()}"
        )
    return (arange(size),) * count


@reword_errors
def diag_indices_from(arr: ArrayLike) -> tuple[Array, ...]:
    """The indices of the main diagonal of an array.

    Raises:
        ValueError: it has less than two dimensions, or they differ.
    """
    x = as_array("diag_indices_from", arr)
    if x.ndim < 2 or len(set(x.shape)) != 1:
        raise ValueError(
            f"diag_indices_from takes an array of equal dimensions, got {x.shape}{here()}"
        )
    return diag_indices(x.shape[0], x.ndim)


@reword_errors
def mask_indices(
    n: int, mask_func: Callable[..., Any], k: int = 0, *, size: int | None = None
) -> tuple[Array, Array]:
    """The indices that ``mask_func(ones((n, n)), k)`` keeps."""
    from ..creation.filled import ones
    from ..searching.finding import nonzero

    rows, columns = nonzero(mask_func(ones((n, n)), k), size=size)
    return rows, columns


@reword_errors
def fill_diagonal(
    a: ArrayLike, val: ArrayLike, wrap: bool = False, *, inplace: bool = True
) -> Array:
    """``a`` with ``val`` on its main diagonal.

    Raises:
        NotImplementedError: ``inplace`` is not False.
        ValueError: ``a`` has less than two dimensions, or more that differ.
    """
    if inplace:
        raise NotImplementedError(
            "fill_diagonal cannot change an array in place: arrays are immutable. Pass "
            "inplace=False"
        )
    if wrap:
        raise NotImplementedError(f"fill_diagonal: wrap=True is not supported{here()}")
    x, v = as_array("fill_diagonal", a), as_array("fill_diagonal", val, 1)
    if x.ndim < 2 or (x.ndim > 2 and len(set(x.shape)) != 1):
        raise ValueError(f"fill_diagonal: shape {x.shape} has no main diagonal{here()}")
    n = min(x.shape)
    if v.ndim:
        from ..manipulation.shapes import resize

        v = resize(v, (n,))
    at = lax.iota(np.int32, n)
    return x.at[(at,) * x.ndim].set(v)


@reword_errors
def ix_(*args: ArrayLike) -> tuple[Array, ...]:
    """Vectors as open mesh: indexing with them picks a rectangle.

    Raises:
        TypeError: an argument is no array, such as a list. ValueError: it is not a vector.
    """
    out = []
    for i, given in enumerate(args):
        x = as_array("ix_", given, i)
        if x.ndim != 1:
            raise ValueError(f"ix_ takes vectors, got shape {x.shape} at position {i}{here()}")
        if x.dtype.kind == "b":
            from ..searching.finding import nonzero

            (x,) = nonzero(x)
        elif not x.size:
            x = convert(x, default_int())
        out.append(to_shape(x, (1,) * i + (x.size,) + (1,) * (len(args) - i - 1)))
    return tuple(out)


@reword_errors
def unravel_index(indices: ArrayLike, shape: Any) -> tuple[Array, ...]:
    """Indices into a flattened array as indices per dimension; those out of bounds are clipped.

    Integral numbers of floating-point types are accepted, too, and give results of these types.
    """
    at = as_array("unravel_index", indices)
    if at.dtype.kind not in "iuf":
        raise TypeError(f"unravel_index takes integers, got dtype {at.dtype}{here()}")
    dims = shape_tuple("unravel_index", shape)
    total = int(np.prod(dims, dtype=int))
    at = lax.clamp(number(at, -total), at, number(at, max(total - 1, 0)))
    if at.dtype.kind != "u":
        at = select(lax.lt(at, number(at, 0)), lax.add(at, number(at, total)), at)
    out = []
    for d in reversed(dims):
        out.append(lax.rem(at, number(at, max(d, 1))))
        at = lax.div(at, number(at, max(d, 1)))
        at = lax.floor(at) if at.dtype.kind == "f" else at
    return tuple(reversed(out))


@reword_errors
def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str = "raise", order: str = "C", *, dtype: DTypeLike = None
) -> Array:
    """Indices per dimension as indices into the flattened array.

    Args:
        mode: for indices out of bounds: ``"raise"`` (not while tracing), ``"wrap"`` or ``"clip"``.

    Raises:
        ValueError: an index is out of bounds, or the mode or order is unknown.
    """
    from ..searching.finding import concrete_value
    from ..ufuncs.arithmetic import REMAINDER

    sizes = shape_tuple("ravel_multi_index", dims)
    given = (
        list(multi_index) if not hasattr(multi_index, "aval") else list(lax.unstack(multi_index))
    )
    if len(given) != len(sizes):
        raise ValueError(
            f"ravel_multi_index: {len(given)} indices for {len(sizes)} dimensions{here()}"
        )
    if order not in ("C", "F") or mode not in ("raise", "wrap", "clip"):
        raise ValueError(f"ravel_multi_index: unknown order {order!r} or mode {mode!r}{here()}")
    parts = [as_array("ravel_multi_index", g, i) for i, g in enumerate(given)]
    if any(p.dtype.kind not in "iu" for p in parts):
        raise TypeError(f"ravel_multi_index takes integers{here()}")
    out: Any = lax.full((), 0, dtypes.result_type(np.int32, *[p.dtype for p in parts]))
    strides = np.cumprod((1, *sizes[:0:-1]))[::-1] if order == "C" else np.cumprod((1, *sizes[:-1]))
    for p, n, stride in zip(parts, sizes, strides):
        if mode == "raise":
            values = concrete_value("ravel_multi_index", p, "Pass mode='wrap' or mode='clip'.")
            if values.size and (values.min() < 0 or values.max() >= n):
                raise ValueError(
                    f"ravel_multi_index: an index is out of bounds for size {n}{here()}"
                )
        p = REMAINDER(p, n) if mode == "wrap" else (
            lax.clamp(number(p, 0), p, number(p, n - 1)) if mode == "clip" else p)  # fmt: skip
        out = out + p * int(stride)
    return out if dtype is None else lax.convert_element_type(out, dtype)


class _Grid:
    """Coordinate grids from slices: ``mgrid[0:3, 0:1:5j]``."""

    def __init__(self, name: str, sparse: bool) -> None:
        self._name, self._sparse = name, sparse

    def __repr__(self) -> str:
        return f"<dovetail.numpy.{self._name}>"

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return _range_of(key)
        if not len(key):  # NumPy's grid without axes
            return [] if self._sparse else lax.full((0,), 0, default_int())
        axes = [_range_of(k) for k in key]
        axes = [as_array("grid", a) for a in promote("grid", *axes)]
        n = len(axes)
        if self._sparse:
            return [
                to_shape(a, (1,) * i + (a.size,) + (1,) * (n - i - 1)) for i, a in enumerate(axes)
            ]
        shape = tuple(a.size for a in axes)
        return lax.stack([lax.broadcast_in_dim(a, shape, (i,)) for i, a in enumerate(axes)])


def _range_of(key: slice) -> Any:
    start = 0 if key.start is None else key.start
    step = 1 if key.step is None else key.step
    if isinstance(step, complex):
        return linspace(start, key.stop, int(abs(step)))
    return arange(start, key.stop, step)


mgrid = _Grid("mgrid", False)
ogrid = _Grid("ogrid", True)


class _Concatenator:
    """Arrays joined by writing them as an index: ``r_[0:3, 7, x]``."""

    def __init__(self, name: str, axis: int, ndmin: int, trans1d: int) -> None:
        self._name, self._axis, self._ndmin, self._trans1d = name, axis, ndmin, trans1d

    def __repr__(self) -> str:
        return f"<dovetail.numpy.{self._name}>"

    def __getitem__(self, key: Any) -> Array:
        items = list(key) if isinstance(key, tuple) else [key]
        axis, ndmin, trans1d = self._axis, self._ndmin, self._trans1d
        if items and isinstance(items[0], str):
            if items[0] in ("r", "c"):
                return self._matrix(items[0], [self._part(i, ndmin, trans1d) for i in items[1:]])
            axis, ndmin, trans1d = self._directive(items.pop(0))
        parts = [self._part(i, ndmin, trans1d) for i in items]
        return concatenate(parts, axis)

    def _matrix(self, kind: str, parts: list[Any]) -> Array:
        """The parts as a matrix, as NumPy makes it: a vector is a row, or with ``"c"`` a column."""
        joined = concatenate(parts, self._axis)
        if joined.ndim > 2:
            raise ValueError(
                f"{self._name}: {kind!r} makes a matrix of arrays of at most two dimensions, got "
                f"{joined.ndim}{here()}"
            )
        if joined.ndim == 2:
            return joined
        return to_shape(joined, (1, joined.size) if kind == "r" else (joined.size, 1))

    def _directive(self, text: str) -> tuple[int, int, int]:
        try:
            numbers = [int(t) for t in text.split(",")]
        except ValueError:
            raise ValueError(f"{self._name}: unknown directive {text!r}{here()}") from None
        defaults = [self._axis, self._ndmin, self._trans1d]
        axis, ndmin, trans1d = (numbers + defaults[len(numbers) :])[:3]
        return axis, ndmin, trans1d

    def _part(self, item: Any, ndmin: int, trans1d: int) -> Any:
        if isinstance(item, slice):
            x = as_array(self._name, _range_of(item))
        else:
            x = asarray(item)
        missing = ndmin - x.ndim
        if missing <= 0:
            return x
        if x.ndim == 0:
            return to_shape(x, (1,) * ndmin)
        before = missing if trans1d == -1 else (trans1d if trans1d >= 0 else missing + trans1d + 1)
        return to_shape(x, (1,) * before + x.shape + (1,) * (missing - before))


r_ = _Concatenator("r_", 0, 1, -1)
c_ = _Concatenator("c_", -1, 2, 0)
