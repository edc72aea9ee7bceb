"""``ragged_all_to_all``: rows exchanged along a named axis, as many as each position states."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive

from .collectives import all_gather_p, all_to_all_p
from .indexing import GatherDimensionNumbers
from .traits import describe

ragged_all_to_all_p = Primitive("ragged_all_to_all").def_traits(
    linear=((0, 1),),
    meets=lambda params: params["axes"],
    names_axes=lambda params: params["axes"],
)


@ragged_all_to_all_p.def_abstract_eval
def _type(operand: Any, output: Any, *numbers: Any, **axis: Any) -> Any:
    return output.strong()


def exchanged(numbers: Any, axis: dict[str, Any]) -> Any:
    """The numbers for this position from every position, of which each has numbers for all."""
    from ..functions.shape import reshape

    n = axis["axis_sizes"][0]
    by_sender = reshape(numbers, (n, numbers.shape[0] // n))
    return reshape(all_to_all_p.bind(by_sender, **axis, split_axis=0, concat_axis=0), numbers.shape)


def received(output: Any, starts: Any, sizes: Any) -> Any:
    """For each row of an output the number of the piece that it is from, counted from 1, or 0."""
    from ..functions.creation import broadcasted_iota
    from ..functions.discrete import bitwise_and
    from ..functions.reductions import reduce_max
    from ..functions.values import convert_element_type, select

    shape = (starts.shape[0], output.shape[0])
    rows, numbers = broadcasted_iota(np.int32, shape, 1), broadcasted_iota(np.int32, shape, 0)
    first = convert_element_type(starts, np.int32)[:, None]
    stop = first + convert_element_type(sizes, np.int32)[:, None]
    inside = bitwise_and(rows >= first, rows < stop)
    return reduce_max(select(inside, numbers + np.int32(1), numbers * np.int32(0)), (0,))


def rows_where(mask: Any, x: Any, y: Any) -> Any:
    """Rows of ``x`` where a mask holds, else of ``y``."""
    from ..functions.broadcasting import broadcast_in_dim
    from ..functions.values import select

    return select(broadcast_in_dim(mask, x.shape, (0,)), x, y)


@ragged_all_to_all_p.def_decomposition
def _value(
    operand: Any, output: Any, starts: Any, sizes: Any, positions: Any, sizes_here: Any, **axis: Any
) -> Any:
    """All rows are sent to all positions, and each takes those that are sent to it."""
    from ..functions.gather import gather
    from ..functions.shape import reshape
    from ..functions.values import clamp, convert_element_type

    n, length = axis["axis_sizes"][0], operand.shape[0]
    if not length or not output.shape[0]:
        return output
    starts, sizes, positions = (
        convert_element_type(exchanged(x, axis), np.int32) for x in (starts, sizes, positions)
    )
    everyone = all_gather_p.bind(operand, **axis, axis=0)
    everyone = reshape(everyone, (n * length, *operand.shape[1:]))
    number = received(output, positions, sizes)
    piece = clamp(np.int32(0), number - np.int32(1), np.int32(positions.shape[0] - 1))
    taken = GatherDimensionNumbers((), (0,), (0,))
    start, position = (gather(x, piece[:, None], taken, (1,)) for x in (starts, positions))
    from ..functions.creation import iota

    row = iota(np.int32, output.shape[0]) - position + start
    row = clamp(np.int32(0), row, np.int32(length - 1))
    sender = piece // np.int32(positions.shape[0] // n)
    windows = GatherDimensionNumbers(tuple(range(1, operand.ndim)), (0,), (0,))
    at = (sender * np.int32(length) + row)[:, None]
    rows = gather(everyone, at, windows, (1, *operand.shape[1:]), mode="clip")
    return rows_where(number > np.int32(0), rows, output)


describe(__name__)
