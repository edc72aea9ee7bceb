"""Joining arrays and cutting them apart."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import AbstractValue, here

from ..arrays.iteration import CHUNK, rows
from ..creation.arrays import as_array
from ..fusion import fused, is_operand, one_call
from ..operands import Array, ArrayLike, DTypeLike, axis_index, integer, no_out
from ..operations import reshape as to_shape
from ..promotion import common_type, convert, is_weak_bool, requested
from .shapes import atleast_1d, atleast_2d, atleast_3d, ravel


def _items(name: str, arrays: Any) -> list[Any]:
    """The arguments as a list of arrays; an array is taken as the sequence of its rows.

    A sequence of another class may have the attributes of arrays, for all of its elements.
    """
    if isinstance(getattr(arrays, "aval", None), AbstractValue) or isinstance(arrays, np.ndarray):
        stacked = as_array(name, arrays)
        if not stacked.shape:
            raise TypeError(f"{name} takes a sequence of arrays, got a scalar{here()}")
        if name == "dstack":  # by slices, for which array types of others have rules
            rows = [lax.index_in_dim(stacked, i, keepdims=False) for i in range(stacked.shape[0])]
        else:
            rows = list(lax.unstack(stacked))
    elif isinstance(arrays, (list, tuple)) or _is_sequence(arrays):
        rows = [as_array(name, x, i) for i, x in enumerate(arrays)]
    else:
        raise TypeError(
            f"{name} takes a sequence of arrays, got {type(arrays).__name__}{here()}. Put the "
            "arrays into a list."
        )
    if not rows:
        raise ValueError(f"{name} needs at least one array{here()}")
    return rows


def _is_sequence(x: Any) -> bool:
    """True if a value of an unknown class is a sequence: neither text nor a mapping."""
    kind = type(x)
    by_index = hasattr(kind, "__len__") and hasattr(kind, "__getitem__")
    return by_index and not isinstance(x, (str, bytes, Mapping))


def _same_type(arrays: list[Any], dtype: Any) -> list[Any]:
    if dtype is not None:
        return [convert(x, dtype) for x in arrays]
    first = arrays[0].aval.dtype
    if all(x.aval.dtype is first for x in arrays) and not any(is_weak_bool(x.aval) for x in arrays):
        return arrays
    wanted, weak = common_type([x.aval for x in arrays])
    return [convert(x, wanted, weak) for x in arrays]


def concatenate(arrays: Any, axis: int | None = 0, dtype: DTypeLike = None) -> Array:
    """Arrays put one after the other along an existing axis; flattened first for ``axis=None``.

    Raises:
        TypeError: ``arrays`` is no sequence of arrays, or their shapes differ on other axes.
        ValueError: there is no array, one is a scalar, or the axis is out of bounds.
    """
    items = _items("concatenate", arrays)
    if axis is None:
        return _join(*(ravel(x) for x in items), axis=0, dtype=dtype)
    shape = items[0].shape
    if not all(x.shape for x in items):
        raise ValueError(
            f"concatenate: scalars cannot be concatenated{here()}. Use stack for them."
        )
    axis = axis_index("concatenate", axis, len(shape))
    rest = shape[:axis] + shape[axis + 1 :]
    for x in items:
        own = x.shape
        if len(own) != len(shape) or own[:axis] + own[axis + 1 :] != rest:
            shapes = ", ".join(str(i.shape) for i in items)
            raise TypeError(
                f"concatenate got arrays of shapes {shapes} along axis {axis}{here()}: they "
                "must be equal on all other axes. Broadcast or reshape first."
            )
    return _join(*items, axis=axis, dtype=dtype)


def _join(*items: Any, axis: int, dtype: Any) -> Any:
    first = items[0].aval.dtype
    alike = dtype is None and all(x.aval.dtype is first for x in items)
    if alike and not any(is_weak_bool(x.aval) for x in items):
        if len(items) == 1:
            return items[0]
        return lax.concatenate_p.bind(*items, dimension=axis)
    wanted = None if dtype is None else requested(dtype, *(x.dtype for x in items))
    return _join_converted(*items, axis=axis, dtype=wanted)


@fused(static=("axis", "dtype"))
def _join_converted(*items: Any, axis: int, dtype: Any) -> Any:
    return lax.concatenate(_same_type(list(items), dtype), axis)


def concat(arrays: Sequence[ArrayLike], /, *, axis: int | None = 0) -> Array:
    """Arrays put one after the other along an existing axis (see :func:`concatenate`)."""
    return concatenate(arrays, axis)


@one_call("axis")
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """``values`` put after ``arr`` along ``axis``; both flattened by default."""
    return concatenate([arr, values], axis)


def stack(arrays: Any, axis: int = 0, out: None = None, dtype: DTypeLike = None) -> Array:
    """Arrays of one shape side by side along a new axis.

    Raises:
        ValueError: there is no array, or shapes differ; names them.
    """
    no_out("stack", out)
    items = _items("stack", arrays)
    shape = items[0].shape
    if any(x.shape != shape for x in items):
        raise ValueError(
            f"stack: all arrays must have one shape, got {', '.join(str(x.shape) for x in items)}"
            f"{here()}. Broadcast or reshape them first, or use concatenate."
        )
    axis = axis_index("stack", axis, len(shape) + 1)
    wanted = None if dtype is None else requested(dtype, *(x.dtype for x in items))
    return _stack(*items, axis=axis, dtype=wanted)


@fused(static=("axis", "dtype"))
def _stack(*items: Any, axis: int, dtype: Any) -> Any:
    return lax.stack_p.bind(*_same_type(list(items), dtype), axis=axis)


def unstack(x: ArrayLike, /, *, axis: int = 0) -> tuple[Array, ...]:
    """The arrays that ``x`` is a stack of along ``axis``."""
    x = as_array("unstack", x)
    if not x.shape:
        raise ValueError(f"unstack needs an array of at least one dimension, got a scalar{here()}")
    at = axis_index("unstack", axis, x.ndim)
    if x.shape[at] <= CHUNK:
        return tuple(lax.unstack(x, at))
    first = (at, *[i for i in range(x.ndim) if i != at])
    return tuple(rows(lax.transpose(x, first) if at else x))


def hstack(tup: Any, dtype: DTypeLike = None) -> Array:
    """Arrays joined along the second axis, vectors along their only one."""
    items = [atleast_1d(x) for x in _items("hstack", tup)]
    return concatenate(items, 0 if not items or items[0].ndim == 1 else 1, dtype)


def vstack(tup: Any, dtype: DTypeLike = None) -> Array:
    """Arrays joined along the first axis, vectors as rows."""
    return concatenate([atleast_2d(x) for x in _items("vstack", tup)], 0, dtype)


def dstack(tup: Any, dtype: DTypeLike = None) -> Array:
    """Arrays joined along the third axis."""
    return concatenate([atleast_3d(x) for x in _items("dstack", tup)], 2, dtype)


def column_stack(tup: Any) -> Array:
    """Vectors as columns of a matrix; matrices as they are, side by side."""
    items = _items("column_stack", tup)
    return concatenate([x if x.ndim > 1 else to_shape(x, (x.size, 1)) for x in items], 1)


def _not_arrays(arrays: Any) -> bool:
    if isinstance(arrays, list):
        return not arrays or any(_not_arrays(x) for x in arrays)
    return not is_operand(arrays)


@fused(unless=_not_arrays)
def block(arrays: Any) -> Array:
    """An array from nested lists of blocks: innermost lists along the last axis, and so on."""
    depth = _depth(arrays)
    parts = _flat(arrays)
    ndim = max([depth, *(x.ndim for x in parts)])
    return _block(arrays, depth, ndim)


def _depth(x: Any) -> int:
    if isinstance(x, tuple):
        raise ValueError(f"block takes lists, not tuples{here()}: got {x!r}")
    if not isinstance(x, list):
        return 0
    if not x:
        raise ValueError(f"block: lists cannot be empty{here()}")
    depths = {_depth(i) for i in x}
    if len(depths) > 1:
        raise ValueError(f"block: all lists must be nested to the same depth{here()}")
    return 1 + depths.pop()


def _flat(x: Any) -> list[Any]:
    return [a for i in x for a in _flat(i)] if isinstance(x, list) else [as_array("block", x)]


def _block(x: Any, depth: int, ndim: int) -> Any:
    if depth == 0:
        x = as_array("block", x)
        return x if x.ndim == ndim else to_shape(x, (1,) * (ndim - x.ndim) + x.shape)
    return concatenate([_block(i, depth - 1, ndim) for i in x], axis=-depth)


def _cuts(name: str, size: int, sections: Any) -> list[int]:
    """The ends of parts, for a number of parts or a sequence of indices."""
    if isinstance(sections, (list, tuple)) or np.ndim(sections) == 1:
        return [integer(name, "every index", i) for i in sections]
    n = integer(name, "the number of sections", sections)
    if n < 1:
        raise ValueError(f"{name}: the number of sections must be positive, got {n}{here()}")
    part, rest = divmod(size, n)
    if rest and name != "array_split":
        raise ValueError(
            f"{name}: an axis of size {size} cannot be split into {n} equal parts{here()}"
        )
    sizes = [part + 1] * rest + [part] * (n - rest)
    return [int(i) for i in np.cumsum(sizes[:-1])]


def _split(name: str, ary: ArrayLike, sections: Any, axis: int) -> list[Array]:
    x = as_array(name, ary)
    axis = axis_index(name, axis, x.ndim)
    size = x.shape[axis]
    cuts = _cuts(name, size, sections)
    ends = [min(max(c + size if c < 0 else c, 0), size) for c in cuts]
    bounds = [0, *ends, size]
    sizes = [b - a for a, b in itertools.pairwise(bounds)]
    if all(s >= 0 for s in sizes):
        return list(lax.split_p.bind(x, sizes=tuple(sizes), axis=axis))
    return [lax.slice_in_dim(x, a, max(a, b), axis=axis) for a, b in itertools.pairwise(bounds)]


def split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """``ary`` cut along ``axis``: into equal parts, or before each of some indices.

    Raises:
        ValueError: the axis's size is not a multiple of the number of parts.
    """
    return _split("split", ary, indices_or_sections, axis)


def array_split(ary: ArrayLike, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Like :func:`split`, but the parts' sizes may differ by one."""
    return _split("array_split", ary, indices_or_sections, axis)


def hsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """``ary`` cut along its second axis, or its only one."""
    x = as_array("hsplit", ary)
    return _split("hsplit", x, indices_or_sections, 0 if x.ndim == 1 else 1)


def vsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """``ary`` cut along its first axis."""
    return _split("vsplit", ary, indices_or_sections, 0)


def dsplit(ary: ArrayLike, indices_or_sections: Any) -> list[Array]:
    """``ary`` cut along its third axis."""
    return _split("dsplit", ary, indices_or_sections, 2)
