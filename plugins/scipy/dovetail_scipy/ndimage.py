"""Images of any number of dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import product
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_jit import fused, is_operand

from .arguments import Array, ArrayLike, array, inexact

__all__ = ["map_coordinates"]


def _not_arrays(input: Any, coordinates: Any, order: Any, mode: Any = "", cval: Any = 0.0) -> bool:
    """True if arguments are not arrays and static options that a compiled call takes."""
    listed = coordinates.__class__ in (list, tuple)
    if not listed or order.__class__ is not int or mode.__class__ is not str:
        return True
    return not all(is_operand(x) for x in (input, *coordinates, cval))


@reword_errors
@fused(static=("order", "mode"), unless=_not_arrays)
def map_coordinates(
    input: ArrayLike, coordinates: Sequence[ArrayLike], order: int, mode: str = "constant",
    cval: ArrayLike = 0.0,
) -> Array:  # fmt: skip
    """The values of an array at coordinates between its elements, by interpolation.

    Args:
        coordinates: for each dimension of ``input`` an array of indices, real numbers; they
            broadcast to the shape of the result.
        order: 0 for the value of the nearest element, 1 for linear interpolation.
        mode: the values outside of the array: ``"constant"``, ``cval``; ``"nearest"``, the element
            at the edge; ``"wrap"``, the array repeated; ``"mirror"``, the array reflected about the
            middle of the elements at the edge; ``"reflect"``, about the edge itself.

    Returns: an array of the element type of ``input``; for integers it is rounded.

    Raises:
        TypeError: an argument is no array.
        ValueError: the number of coordinates is not that of dimensions.
        NotImplementedError: the order is not 0 or 1, or there is no such mode.
    """
    values = array("map_coordinates", input)
    at = [array("map_coordinates", c, 1) for c in coordinates]
    if len(at) != values.ndim:
        raise ValueError(
            f"map_coordinates: coordinates must be a sequence of {values.ndim} arrays, one for "
            f"each dimension of input, got {len(at)}{here()}"
        )
    if mode not in _INDICES:
        raise NotImplementedError(
            f"map_coordinates: mode must be one of {', '.join(map(repr, _INDICES))}, got "
            f"{short_repr(mode)}{here()}"
        )
    degree = integer("map_coordinates: order", order)
    if degree not in (0, 1):
        raise NotImplementedError(
            f"map_coordinates: order must be 0 or 1, got {degree}{here()}. Splines of higher order "
            "are not implemented."
        )
    return _map_coordinates(values, at, array("map_coordinates", cval, 4), degree, mode)


@fused(static=("order", "mode"))
def _map_coordinates(values: Any, coordinates: Any, cval: Any, order: int, mode: str) -> Any:
    kind = values.dtype
    outside = lax.convert_element_type(cval, kind)
    corners = _nearest if order == 0 else _neighbours
    axes = [corners(c) for c in inexact("map_coordinates", *coordinates)]
    out: Any = 0
    for picked in product(*axes):
        index, valid = [], True
        for (at, _), size in zip(picked, values.shape):
            valid = valid & (at >= 0) & (at < size) if mode == "constant" else valid
            index.append(_INDICES[mode](at, size))
        value = values[tuple(index)]
        value = value if valid is True else dnp.where(valid, value, outside)
        for _, weight in picked:
            value = value if weight is None else value * weight
        out = out + value
    if dnp.issubdtype(kind, dnp.integer):
        out = _round(out) if order else out
    return lax.convert_element_type(out, kind)


def _round(x: Any) -> Any:
    """``x`` rounded to the nearest integer, halves away from zero."""
    return dnp.where(x < 0, dnp.ceil(x - 0.5), dnp.floor(x + 0.5))


def _nearest(c: Any) -> list[tuple[Any, None]]:
    """Index and weight of the element that is nearest."""
    return [(_round(c).astype(np.int32), None)]


def _neighbours(c: Any) -> list[tuple[Any, Any]]:
    """Indices and weights of the elements on both sides of a coordinate."""
    below = dnp.floor(c)
    weight = c - below
    index = below.astype(np.int32)
    return [(index, 1 - weight), (index + 1, weight)]


def _clip(i: Any, size: int) -> Any:
    return dnp.clip(i, 0, size - 1)


def _wrap(i: Any, size: int) -> Any:
    return i % size


def _mirror(i: Any, size: int) -> Any:
    last = size - 1
    return dnp.abs((i + last) % (2 * last) - last) if last else dnp.zeros_like(i)


def _reflect(i: Any, size: int) -> Any:
    return dnp.minimum(i % (2 * size), 2 * size - 1 - i % (2 * size))


_INDICES: dict[str, Callable[[Any, int], Any]] = {
    "constant": _clip,
    "nearest": _clip,
    "wrap": _wrap,
    "mirror": _mirror,
    "reflect": _reflect,
}
"""The index of the element that is read for an index outside of the array, by mode."""
