"""Public functions that join and divide arrays: concatenate, stack, tile, split, pad."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dovetail_base.arguments import items
from dovetail_core import get_trace

from ..dtypes import dtype_of
from ..primitives._elementwise import place
from ..primitives.joining import concatenate_p, pad_p, split_p, stack_p, tile_p, unstack_p
from ..scalars import PYTHON_SCALARS, adapt
from ._args import Array, ArrayLike
from ._shapes import axis_in, ints, on_host, shape_of


def concatenate(operands: ArrayLike, dimension: int) -> Array:
    """Arrays put one after the other along an existing axis.

    Args:
        operands: a sequence of arrays of one dtype, whose shapes differ along ``dimension`` only
            (or one array, whose rows are taken).

    Raises:
        TypeError: dtypes or shapes do not fit.
        ValueError: there are no arrays, or the axis is out of bounds.
    """
    arrays = tuple(operands)
    if not arrays:
        raise ValueError(f"lax.concatenate needs at least one array, got none{place()}.")
    if len(arrays) == 1 and not on_host(arrays[0]):
        axis_in("concatenate", "dimension", dimension, len(shape_of(arrays[0])))
        return arrays[0]
    if dimension.__class__ is not int or dimension < 0:
        dimension = axis_in("concatenate", "dimension", dimension, len(shape_of(arrays[0])))
    return get_trace().process(concatenate_p, arrays, {"dimension": dimension})


def stack(operands: Sequence[ArrayLike], axis: int = 0) -> Array:
    """Arrays of one shape and dtype put side by side along a new axis.

    Raises:
        TypeError: dtypes differ.
        ValueError: shapes differ, there are no arrays, or the axis is out of bounds.
    """
    arrays = tuple(operands)
    if not arrays:
        raise ValueError(f"lax.stack needs at least one array, got none{place()}.")
    at = axis_in("stack", "axis", axis, len(shape_of(arrays[0])) + 1)
    return stack_p.bind(*arrays, axis=at)


def unstack(x: ArrayLike, axis: int = 0) -> tuple[Array, ...]:
    """The arrays that ``x`` is a stack of along ``axis``.

    Raises:
        ValueError: the axis is out of bounds.
    """
    at = axis_in("unstack", "axis", axis, len(shape_of(x)))
    return tuple(unstack_p.bind(x, axis=at))


def tile(operand: ArrayLike, reps: Sequence[int]) -> Array:
    """``operand`` repeated ``reps[i]`` times along each axis ``i``.

    Raises:
        TypeError: ``reps`` has not one entry, at least 0, for each axis.
    """
    return tile_p.bind(operand, reps=ints("tile", "reps", reps))


def split(operand: ArrayLike, sizes: Sequence[int], axis: int = 0) -> list[Array]:
    """``operand`` cut along ``axis`` into parts of the given sizes.

    Raises:
        ValueError: the sizes do not add up to the axis's, or the axis is out of bounds.
    """
    at = axis_in("split", "axis", axis, len(shape_of(operand)))
    return split_p.bind(operand, sizes=ints("split", "sizes", sizes), axis=at)


def pad(
    operand: ArrayLike, padding_value: ArrayLike, padding_config: Sequence[tuple[int, int, int]]
) -> Array:
    """``operand`` with elements added before, after and between its own, or removed.

    Args:
        padding_value: a scalar of the operand's dtype (Python scalars adapt to it).
        padding_config: for each axis ``(low, high, interior)``: how many elements come before the
            first and after the last (negative: are removed there), and how many between any two.

    Raises:
        TypeError: the value's dtype is another, or it is no scalar.
        ValueError: the configuration does not fit the operand.
    """
    config = tuple(
        [ints("pad", "padding_config", c) for c in items("padding_config", padding_config)]
    )
    if padding_value.__class__ in PYTHON_SCALARS:
        padding_value = adapt(padding_value, dtype_of(operand))
    elif isinstance(padding_value, np.ndarray):
        padding_value = padding_value[()]  # a scalar becomes a literal of the program
    return pad_p.bind(operand, padding_value, padding_config=config)
