"""``ds``: slices of static size with starts that may be traced."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_core import ShapedArray, here
from dovetail_lax import dynamic_slice, dynamic_update_slice
from dovetail_tree.registry import register_pytree_node

from ..operations import select


@dataclass(frozen=True)
class Slice:
    """``size`` elements from ``start`` on, every ``stride``-th: see :func:`ds`."""

    start: Any
    size: int
    stride: int = 1


register_pytree_node(
    Slice, lambda s: ((s.start,), (s.size, s.stride)), lambda aux, children: Slice(*children, *aux)
)


def ds(start: Any, size: int | None = None, stride: int | None = None) -> slice | Slice:
    """An index for ``size`` elements from ``start`` on, which may be traced.

    ``x[ds(i, n)]`` and ``x.at[ds(i, n)]`` are about the ``n`` elements from ``i`` on, every
    ``stride``-th; where these are not all in the array, about the nearest that are. ``ds(n)`` is
    the first ``n``, ``ds(None)`` all of them.

    Raises:
        TypeError: ``size`` or ``stride`` is no integer, or is not known while tracing.
            ValueError: it is negative.
    """
    if start is None:
        return slice(None)
    if size is None:
        start, size = 0, start
    size = arguments.integer("ds: size", size)
    step = 1 if stride is None else arguments.integer("ds: stride", stride)
    if size < 0 or step < 1:
        raise ValueError(
            f"ds takes a size of at least 0 and a stride of at least 1, got {size} and {step}"
            f"{here()}"
        )
    return Slice(start, size, step)


class Windowed(Exception):
    """An index has a :class:`Slice`."""


def read(get: Callable[[Any, Any], Any], x: Any, index: Any) -> Any:
    """``x[index]`` by ``get(window, index)`` of a window of ``x`` and the index within it."""
    starts, sizes, rest = _window(x.shape, index)
    return get(dynamic_slice(x, _starts_or_zero(starts), sizes), rest)


def write(put: Callable[[Any, Any], Any], x: Any, index: Any, drops: bool) -> Any:
    """``x`` with a window of it replaced by ``put(window, index)``.

    With ``drops`` it is replaced only if all of the window is in ``x``.
    """
    starts, sizes, rest = _window(x.shape, index)
    positions = _starts_or_zero(starts)
    result = dynamic_update_slice(x, put(dynamic_slice(x, positions, sizes), rest), positions)
    for start, size, length in zip(starts, sizes, x.shape):
        if drops and start is not None:
            at = start + length * (start < 0)
            result = select((at >= 0) & (at + size <= length), result, x)
    return result


def _starts_or_zero(starts: list[Any]) -> list[Any]:
    return [0 if s is None else s for s in starts]


def _window(shape: tuple[int, ...], index: Any) -> tuple[list[Any], list[int], tuple[Any, ...]]:
    """The starts and sizes of the window that the slices of an index name, and the index in it."""
    items = index if isinstance(index, tuple) else (index,)
    taken = sum(map(_dimensions, items))
    starts: list[Any] = [None] * len(shape)
    sizes, rest, axis = list(shape), list[Any](), 0
    for item in items:
        if isinstance(item, Slice) and axis < len(shape):
            span = max(item.size - 1, 0) * item.stride + 1 if item.size else 0
            if span > shape[axis]:
                raise IndexError(
                    f"ds({item.start}, {item.size}, {item.stride}) is of {span} elements, and "
                    f"axis {axis} has {shape[axis]}{here()}"
                )
            starts[axis], sizes[axis] = item.start, span
            item = slice(None, None, item.stride)
        rest.append(item)
        axis += len(shape) - taken if item is Ellipsis else _dimensions(item)
    return starts, sizes, tuple(rest)


def _dimensions(item: Any) -> int:
    """The number of dimensions of an array that an item of an index consumes."""
    if item is None or item is Ellipsis or isinstance(item, (bool, np.bool_)):
        return 0
    aval: Any = getattr(item, "aval", item)
    if isinstance(aval, (ShapedArray, np.ndarray)) and aval.dtype == np.bool_:
        return aval.ndim
    return 1
