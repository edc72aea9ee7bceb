"""``ragged_dot_general``: contractions in which one axis of ``lhs`` falls into groups.

It decomposes into one dense contraction, in which each group has a copy of ``lhs`` that is zero
outside of its rows; so its cost is that of all groups.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from .arithmetic import sub_p
from .contractions import dot_general_p, left_axes
from .discrete import and_p, ge_p, lt_p
from .moves import full, moved, repeated, spread
from .reductions import cumsum_p
from .traits import describe
from .values import iota_p, select_n_p

Axes = tuple[int, ...]

ragged_dot_general_p = Primitive("ragged_dot_general")
"""Of ``lhs``, ``rhs`` and the sizes of the groups along the ragged axis of ``lhs``."""


class RaggedDotDimensionNumbers(NamedTuple):
    """The axes that a ragged contraction sums, and those that fall into groups.

    Attributes:
        dot_dimension_numbers: as of ``dot_general``.
        lhs_ragged_dimensions: the axis of ``lhs`` whose elements fall into groups, one after the
            other.
        rhs_group_dimensions: the axis of ``rhs`` that has an entry for each group, where the ragged
            axis is neither summed nor a batch axis; else none.
    """

    dot_dimension_numbers: tuple[tuple[Axes, Axes], tuple[Axes, Axes]]
    lhs_ragged_dimensions: Axes
    rhs_group_dimensions: Axes

    @property
    def ragged(self) -> int:
        return self.lhs_ragged_dimensions[0]

    @property
    def mode(self) -> str:
        """The kind of the ragged axis: ``free``, ``contracting`` or ``batch``."""
        (contracting, _), (batch, _) = self.dot_dimension_numbers
        if self.ragged in contracting:
            return "contracting"
        return "batch" if self.ragged in batch else "free"

    def outer_axes(self, ndim: int) -> Axes:
        """The axes of ``lhs`` along which sizes of groups may differ: those before the ragged one.

        Batch axes come first, then those of the ragged one's kind.
        """
        (contracting, _), (batch, _) = self.dot_dimension_numbers
        kinds: dict[str, tuple[int, ...]] = {
            "free": left_axes(ndim, contracting, batch), "contracting": contracting, "batch": batch,
        }  # fmt: skip
        own = tuple(kinds[self.mode])
        before = own[: own.index(self.ragged)]
        return before if self.mode == "batch" else (*batch, *before)


def _refuse(text: str) -> None:
    raise TypeError(f"lax.ragged_dot_general {text}{here()}")


@ragged_dot_general_p.def_abstract_eval
def _ragged_dot_type(
    lhs: ShapedArray,
    rhs: ShapedArray,
    group_sizes: ShapedArray,
    *,
    dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any,
    preferred_element_type: Any,
) -> ShapedArray:
    numbers = dimension_numbers
    _check(numbers, lhs, rhs, group_sizes)
    groups = group_sizes.shape[-1]
    (contracting, summed), (batch, paired) = numbers.dot_dimension_numbers
    dims, plain = numbers.dot_dimension_numbers, rhs
    if numbers.mode == "free":
        at = numbers.rhs_group_dimensions[0]
        plain = rhs.update(shape=tuple(np.delete(rhs.shape, at).tolist()))
        dims = (contracting, _without(summed, at)), (batch, _without(paired, at))
    out: Any = dot_general_p.infer(
        (lhs, plain),
        {
            "dimension_numbers": dims,
            "precision": precision,
            "preferred_element_type": preferred_element_type,
        },
    )[0][0]
    return out.update(shape=(groups, *out.shape)) if numbers.mode == "contracting" else out


def _without(axes: Axes, dropped: int) -> Axes:
    return tuple([a - (a > dropped) for a in axes])


def _check(
    numbers: RaggedDotDimensionNumbers, lhs: ShapedArray, rhs: ShapedArray, sizes: ShapedArray
) -> None:
    if len(numbers.lhs_ragged_dimensions) != 1 or not 0 <= numbers.ragged < len(lhs.shape):
        _refuse(
            f"got lhs_ragged_dimensions {numbers.lhs_ragged_dimensions} for lhs "
            f"{lhs.str_short()}: name exactly one axis of it"
        )
    wanted = int(numbers.mode == "free")
    if len(numbers.rhs_group_dimensions) != wanted:
        _refuse(
            f"got rhs_group_dimensions {numbers.rhs_group_dimensions}: rhs has "
            f"{'one group axis' if wanted else 'no group axis'} where the ragged axis of lhs is "
            f"{numbers.mode}"
        )
    if sizes.dtype.kind not in "iu":
        _refuse(f"got group_sizes {sizes.str_short()}: sizes are integers")
    outer = tuple([lhs.shape[a] for a in numbers.outer_axes(len(lhs.shape))])
    if not sizes.shape or sizes.shape[:-1] not in ((), outer):
        _refuse(
            f"got group_sizes {sizes.str_short()}: its shape is (groups,) or "
            f"{outer} + (groups,), the axes of lhs outside of the ragged one"
        )
    if wanted and rhs.shape[numbers.rhs_group_dimensions[0]] != sizes.shape[-1]:
        _refuse(
            f"got {sizes.shape[-1]} group_sizes for rhs {rhs.str_short()}, whose axis "
            f"{numbers.rhs_group_dimensions[0]} has an entry for each group"
        )


@ragged_dot_general_p.def_decomposition
def _dense(
    lhs: Any, rhs: Any, group_sizes: Any, *, dimension_numbers: RaggedDotDimensionNumbers,
    precision: Any, preferred_element_type: Any,
) -> Any:  # fmt: skip
    numbers, options = dimension_numbers, {
        "precision": precision, "preferred_element_type": preferred_element_type,
    }  # fmt: skip
    (contracting, summed), (batch, paired) = numbers.dot_dimension_numbers
    if numbers.mode == "batch":
        dims: Any = numbers.dot_dimension_numbers
        return dot_general_p.bind(lhs, rhs, dimension_numbers=dims, **options)
    by_group = _copies(lhs, group_sizes, numbers)
    later = tuple([a + 1 for a in contracting])
    batches = tuple([a + 1 for a in batch]), paired
    if numbers.mode == "free":
        dims = ((0, *later), (*numbers.rhs_group_dimensions, *summed)), batches
        return dot_general_p.bind(by_group, rhs, dimension_numbers=dims, **options)
    result = dot_general_p.bind(
        by_group, rhs, dimension_numbers=((later, summed), batches), **options
    )
    return moved(result, len(batch), 0)


def _copies(lhs: Any, sizes: Any, numbers: RaggedDotDimensionNumbers) -> Any:
    """``lhs`` once for each group, along a new leading axis: zero outside of the group's rows."""
    shape = (sizes.shape[-1], *lhs.shape)
    outer = numbers.outer_axes(len(lhs.shape)) if len(sizes.shape) > 1 else ()
    last = len(sizes.shape) - 1
    stop = cumsum_p.bind(sizes, axis=last, reverse=False)
    axes = tuple([a + 1 for a in outer])
    start, stop = (
        spread(moved(x, last, 0), shape, (0, *axes)) for x in (sub_p.bind(stop, sizes), stop)
    )
    row = iota_p.bind(dtype=sizes.dtype, shape=shape, dimension=numbers.ragged + 1)
    inside = and_p.bind(ge_p.bind(row, start), lt_p.bind(row, stop))
    return select_n_p.bind(inside, full(shape, 0, lhs.dtype), repeated(lhs, shape[0], 0))


describe(__name__)
