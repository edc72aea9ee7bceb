"""Contractions of groups of rows, each with a matrix of its own."""

from __future__ import annotations

from typing import Any

from dovetail_core import type_shardings

from ..dtypes import as_dtype
from ..primitives._elementwise import place
from ..primitives.ragged import RaggedDotDimensionNumbers, ragged_dot_general_p
from ._args import Array, ArrayLike, check
from .precision import PrecisionLike, canonical_precision


def ragged_dot(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """Rows of ``lhs`` that fall into groups, one after the other, times the matrix of their group.

    Args:
        lhs: of shape ``(rows, k)``.
        rhs: of shape ``(groups, k, n)``.
        group_sizes: integers of shape ``(groups,)``, how many rows each group has; rows after the
            last group give zeros.
        precision, preferred_element_type: as of ``dot``.

    Returns: an array of shape ``(rows, n)``.

    Raises:
        TypeError: shapes do not fit. NotImplementedError: ``group_offset`` is given.
    """
    numbers = RaggedDotDimensionNumbers((((1,), (1,)), ((), ())), (0,), (0,))
    return ragged_dot_general(
        lhs, rhs, group_sizes, numbers, precision, preferred_element_type, group_offset,
        out_sharding,
    )  # fmt: skip


def ragged_dot_general(
    lhs: ArrayLike,
    rhs: ArrayLike,
    group_sizes: ArrayLike,
    ragged_dot_dimension_numbers: RaggedDotDimensionNumbers,
    precision: PrecisionLike = None,
    preferred_element_type: Any = None,
    group_offset: ArrayLike | None = None,
    out_sharding: Any = None,
) -> Array:
    """A contraction in which one axis of ``lhs`` falls into groups, one after the other.

    What it returns depends on what that axis is. Where it is neither summed nor a batch axis,
    ``rhs`` has an axis with an entry for each group, and rows meet that of their group. Where it is
    summed, each group has a sum of its own, along a leading axis of the result. Where it is a batch
    axis, groups make no difference.

    Args:
        group_sizes: integers, of shape ``(groups,)``, or with the axes of ``lhs`` before the ragged
            one in front: batch axes, and then those of its kind.
        ragged_dot_dimension_numbers: see :class:`RaggedDotDimensionNumbers`.
        precision, preferred_element_type: as of ``dot_general``.

    Raises:
        TypeError: axes or shapes do not fit; names them. NotImplementedError: ``group_offset`` is
            given.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding,
            ragged_dot_general,
            lhs,
            rhs,
            group_sizes,
            ragged_dot_dimension_numbers,
            precision,
            preferred_element_type,
            group_offset,
        )
    if group_offset is not None:
        raise NotImplementedError(
            f"ragged_dot: group_offset is not offered{place()}. Take the groups that are wanted "
            "before the call: rhs[offset:] and the rows of their groups."
        )
    operands = (lhs, rhs, group_sizes)
    for x in operands:
        check("ragged_dot_general", x)
    return ragged_dot_general_p.bind(
        *operands,
        dimension_numbers=_canonical(ragged_dot_dimension_numbers),
        precision=canonical_precision(precision),
        preferred_element_type=(
            None if preferred_element_type is None else as_dtype(preferred_element_type)
        ),
    )


def _canonical(numbers: Any) -> RaggedDotDimensionNumbers:
    try:
        ((cl, cr), (bl, br)), ragged, group = numbers
        dims = ((_axes(cl), _axes(cr)), (_axes(bl), _axes(br)))
        return RaggedDotDimensionNumbers(dims, _axes(ragged), _axes(group))
    except (TypeError, ValueError, AttributeError):
        raise TypeError(
            f"lax.ragged_dot_general got dimension numbers {numbers!r}{place()}: they are a "
            "RaggedDotDimensionNumbers(((lhs_contracting, rhs_contracting), (lhs_batch, "
            "rhs_batch)), lhs_ragged_dimensions, rhs_group_dimensions)."
        ) from None


def _axes(axes: Any) -> tuple[int, ...]:
    return tuple([a.__index__() for a in axes])
