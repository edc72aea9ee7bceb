"""Matrices and grids: identity, triangles, diagonals and traces, Vandermonde, coordinate grids."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import canonical_dtype, here
from dovetail_lax import dtypes

from ..fusion import fused, of_one_array, one_call
from ..operands import Array, ArrayLike, DTypeLike, axis_index, integer, no_out, shape_tuple
from ..operations import filled, number, select, strong, transpose
from ..promotion import broadcast, convert, default_int
from ..reductions.basic import sum as total
from . import placement
from .arrays import as_array


def eye(
    N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None, *, device: Any = None
) -> Array:
    """An ``N`` by ``M`` matrix with ones on the ``k``-th diagonal.

    Raises:
        TypeError: a size is not an integer.
        ValueError: a size is negative.
    """
    dt = canonical_dtype(np.float64) if dtype is None else dtypes.as_dtype(dtype)
    rows, columns = shape = _matrix("eye", N, M)
    if placement.on_host(rows * columns) and not hasattr(k, "aval"):
        out = placement.constant(np.eye(rows, columns, integer("eye", "k", k), np.bool_).astype(dt))
    else:
        out = lax.convert_element_type(_diagonal_mask(shape, k, lax.eq), dt)
    return out if device is None else placement.to_device(out, device)


def _matrix(name: str, rows: int, columns: int | None) -> tuple[int, int]:
    shape = shape_tuple(name, (rows, rows if columns is None else columns))
    return shape[0], shape[1]


def identity(n: int, dtype: DTypeLike = None) -> Array:
    """The ``n`` by ``n`` identity matrix."""
    return eye(n, dtype=dtype)


def _diagonal_mask(shape: tuple[int, int], k: Any, compare: Callable[..., Any]) -> Any:
    """``compare(row + k, column)`` for a matrix."""
    rows = lax.broadcasted_iota(np.int32, shape, 0)
    columns = lax.broadcasted_iota(np.int32, shape, 1)
    shifted = rows if k.__class__ is int and k == 0 else lax.add(rows, _int32(k))
    return compare(shifted, columns)


def _int32(k: Any) -> Any:
    if hasattr(k, "aval"):
        return lax.convert_element_type(k, np.int32)
    return np.int32(integer("triangle", "k", k))


@reword_errors
def tri(N: int, M: int | None = None, k: int = 0, dtype: DTypeLike = None) -> Array:
    """An ``N`` by ``M`` matrix with ones on and below the ``k``-th diagonal, else zeros."""
    dt = canonical_dtype(np.float32) if dtype is None else dtypes.as_dtype(dtype)
    rows, columns = shape = _matrix("tri", N, M)
    if placement.on_host(rows * columns) and not hasattr(k, "aval"):
        return placement.constant(
            np.tri(rows, columns, integer("tri", "k", k), np.bool_).astype(dt)
        )
    return lax.convert_element_type(_diagonal_mask(shape, k, lax.ge), dt)


def _triangle(name: str, m: ArrayLike, k: Any, lower: bool) -> Array:
    m = as_array(name, m)
    if m.ndim < 2:
        raise ValueError(
            f"{name} needs at least two dimensions, got an array of shape {m.shape}{here()}"
        )
    if hasattr(k, "aval"):
        return _masked(m, k, k=0, lower=lower)
    return _masked(m, None, k=integer(name, "k", k), lower=lower)


@fused(static=("k", "lower"), shared=True)
def _masked(m: Any, shift: Any, k: int, lower: bool) -> Any:
    if lower:
        keep = _diagonal_mask(m.shape[-2:], k if shift is None else shift, lax.ge)
        return select(broadcast(keep, m.shape), m, number(m, 0))
    at = k - 1 if shift is None else lax.sub(shift, number(shift, 1))
    drop = _diagonal_mask(m.shape[-2:], at, lax.ge)
    return select(broadcast(drop, m.shape), number(m, 0), m)


@of_one_array("k")
def tril(m: ArrayLike, k: int = 0) -> Array:
    """The last two dimensions' lower triangle; zeros above the ``k``-th diagonal."""
    return _triangle("tril", m, k, True)


@of_one_array("k")
def triu(m: ArrayLike, k: int = 0) -> Array:
    """The last two dimensions' upper triangle; zeros below the ``k``-th diagonal."""
    return _triangle("triu", m, k, False)


@fused(static=("k",), shared=True)
def _diag_of(v: Any, k: int) -> Any:
    n = v.shape[0] + abs(k)
    zero = number(v, 0)
    padded = lax.pad(v, zero, [(max(k, 0), max(-k, 0), 0)])
    mask = _diagonal_mask((n, n), k, lax.eq)
    return select(mask, lax.broadcast_in_dim(padded, (n, n), (1,)), zero)


@reword_errors
@one_call("k")
def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the vector ``v`` as its ``k``-th diagonal, or a matrix's ``k``-th diagonal.

    Raises:
        ValueError: ``v`` has neither one nor two dimensions.
    """
    v, k = as_array("diag", v), integer("diag", "k", k)
    if v.ndim == 1:
        return _diag_of(v, k=k)
    if v.ndim == 2:
        return diagonal(v, k)
    raise ValueError(f"diag takes a vector or a matrix, got an array of shape {v.shape}{here()}")


@reword_errors
def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with all elements of ``v`` as its ``k``-th diagonal."""
    v = as_array("diagflat", v)
    return strong(_diag_of(lax.reshape(v, (v.size,)), k=integer("diagflat", "k", k)))


@fused(static=("offset",), shared=True)
def _last_diagonal(a: Any, offset: int) -> Any:
    rows, columns = a.shape[-2:]
    size = max(0, min(rows + min(offset, 0), columns - max(offset, 0)))
    if size == 0 or a.size == 0:
        return filled(a, (*a.shape[:-2], size), 0)
    first = [max(-offset, 0), max(offset, 0)]
    positions = lax.add(
        lax.broadcasted_iota(np.int32, (size, 2), 0),
        lax.broadcast_in_dim(np.asarray(first, np.int32), (size, 2), (1,)),
    )
    row, column = a.ndim - 2, a.ndim - 1
    lead = tuple(range(row))
    dims = lax.GatherDimensionNumbers(lead, (row, column), (row, column))
    sizes = (*a.shape[:-2], 1, 1)
    return lax.gather(a, positions, dims, sizes, unique_indices=True, mode="promise_in_bounds")


@one_call("offset", "axis1", "axis2")
def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of two axes, which becomes the last axis of the result.

    Raises:
        ValueError: ``a`` has less than two dimensions, or the axes are equal or out of bounds.
    """
    a = as_array("diagonal", a)
    if a.ndim < 2:
        raise ValueError(f"diagonal needs at least two dimensions, got shape {a.shape}{here()}")
    one, two = (axis_index("diagonal", i, a.ndim) for i in (axis1, axis2))
    if one == two:
        raise ValueError(f"diagonal: axis1 and axis2 are the same axis {one}{here()}")
    rest = tuple(i for i in range(a.ndim) if i not in (one, two))
    return _last_diagonal(
        transpose(a, (*rest, one, two)), offset=integer("diagonal", "offset", offset)
    )


@reword_errors
@one_call("N", "increasing")
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:
    """Powers of a vector's elements as columns, highest first unless ``increasing``.

    Raises:
        ValueError: ``x`` is not a vector, or ``N`` is negative.
    """
    x = as_array("vander", x)
    n = x.shape[0] if N is None and x.ndim == 1 else integer("vander", "N", N or 0)
    if x.ndim != 1 or n < 0:
        raise ValueError(f"vander takes a vector and N >= 0, got shape {x.shape} and N={N}{here()}")
    from ..ufuncs.arithmetic import power

    powers = lax.iota(x.dtype if x.dtype.kind in "iu" else np.int32, n)
    powers = powers if increasing else lax.rev(powers, (0,))
    powers = convert(powers, x.dtype) if x.dtype.kind not in "biu" else powers
    return power(lax.broadcast_in_dim(x, (x.shape[0], n), (0,)),
                 lax.broadcast_in_dim(powers, (x.shape[0], n), (1,)))  # fmt: skip


@reword_errors
def meshgrid(
    *xi: ArrayLike, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> list[Array]:
    """Coordinate matrices from coordinate vectors.

    Raises:
        ValueError: ``indexing`` is neither ``'xy'`` nor ``'ij'``, or an argument is no vector.
    """
    if not copy:
        raise ValueError(f"meshgrid: copy=False is not supported: arrays are immutable{here()}")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}{here()}")
    vectors = [as_array("meshgrid", x, i) for i, x in enumerate(xi)]
    if any(v.ndim != 1 for v in vectors):
        shapes = ", ".join(str(v.shape) for v in vectors)
        raise ValueError(f"meshgrid takes vectors, got shapes {shapes}{here()}")
    n = len(vectors)
    order = [1, 0, *range(2, n)] if indexing == "xy" and n > 1 else list(range(n))
    sizes = [v.size for v in vectors]
    shape = tuple(sizes[i] for i in sorted(range(n), key=lambda i: order[i]))
    out = []
    for v, axis in zip(vectors, order):
        target = tuple(d if i == axis or not sparse else 1 for i, d in enumerate(shape))
        out.append(lax.broadcast_in_dim(lax.reshape(v, (v.size,)), target, (axis,)))
    return out


@reword_errors
def indices(dimensions: Any, dtype: DTypeLike = None, sparse: bool = False) -> Any:
    """For each dimension, an array of that shape with the index along it."""
    dt = default_int() if dtype is None else dtypes.as_dtype(dtype)
    shape = shape_tuple("indices", dimensions)
    n = len(shape)
    grids = [lax.broadcasted_iota(
        dt, tuple(d if i == j or not sparse else 1 for j, d in enumerate(shape)), i)
        for i in range(n)]  # fmt: skip
    if sparse:
        return tuple(grids)
    return lax.stack(grids) if grids else lax.full((0,), 0, dt)


@reword_errors
def fromfunction(
    function: Callable[..., Any], shape: Any, *, dtype: DTypeLike = float, **kwargs: Any
) -> Any:
    """``function`` of the coordinates of each element of an array of ``shape``.

    ``function`` is mapped over the elements by ``vmap``, so that it may be written for scalars.
    """
    from dovetail_batching import vmap

    dims = shape_tuple("fromfunction", shape)
    mapped: Any = lambda *args: function(*args, **kwargs)  # noqa: E731
    for i in range(len(dims)):
        axes = [None] * len(dims)
        axes[len(dims) - 1 - i] = 0  # type: ignore[call-overload]
        mapped = vmap(mapped, in_axes=tuple(axes))
    return mapped(*(lax.iota(dtypes.as_dtype(dtype), d) for d in dims))


@reword_errors
@one_call("offset", "axis1", "axis2", "dtype", "out")
def trace(
    a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: DTypeLike = None,
    out: Any = None,
) -> Array:  # fmt: skip
    """The sum along a diagonal of two axes.

    Raises:
        ValueError: ``a`` has less than two dimensions.
    """
    no_out("trace", out)
    return total(diagonal(a, offset, axis1, axis2), -1, dtype)
