"""The windows of gather and scatter: modes, dimension numbers and their checks."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import NamedTuple, NoReturn

from dovetail_base import arguments
from dovetail_core import ShapedArray, here

from ..errors import ElementTypeError
from .shape import Shape


class GatherScatterMode(enum.Enum):
    """The treatment of windows that are not entirely inside of the array.

    ``CLIP`` moves them inside. ``FILL_OR_DROP``: gather returns a fill value for them, scatter
    ignores them. ``PROMISE_IN_BOUNDS``: there are none (else the result is unspecified, but
    nothing else goes wrong). ``ONE_HOT``: as if multiplied by one-hot vectors; gather returns
    zeros for them, scatter ignores them. ``CLIP_REPORTED`` moves them inside, and checks of indices
    report them: dynamic slices with mapped starts.
    """

    CLIP = enum.auto()
    FILL_OR_DROP = enum.auto()
    PROMISE_IN_BOUNDS = enum.auto()
    ONE_HOT = enum.auto()
    CLIP_REPORTED = enum.auto()

    __hash__ = object.__hash__  # members are singletons, and are hashed at each operation

    @property
    def clips(self) -> bool:
        """True if windows are moved inside."""
        return self in (GatherScatterMode.CLIP, GatherScatterMode.CLIP_REPORTED)

    @staticmethod
    def from_any(s: str | GatherScatterMode | None) -> GatherScatterMode:
        """The mode of an argument: a member, the name of one, or None for the default.

        Raises:
            ValueError: there is no such mode.
        """
        if isinstance(s, GatherScatterMode):
            return s
        if arguments.hashable("mode", s) not in _NAMES:
            raise ValueError(
                f"unknown mode {s!r} of gather or scatter{here()}: use one of "
                f"{', '.join(repr(n) for n in _NAMES if n)}, or a GatherScatterMode."
            )
        return _NAMES[s]


_NAMES = {
    None: GatherScatterMode.FILL_OR_DROP,
    "clip": GatherScatterMode.CLIP,
    "fill": GatherScatterMode.FILL_OR_DROP,
    "drop": GatherScatterMode.FILL_OR_DROP,
    "promise_in_bounds": GatherScatterMode.PROMISE_IN_BOUNDS,
    "one_hot": GatherScatterMode.ONE_HOT,
}


class GatherDimensionNumbers(NamedTuple):
    """The relation of the axes of operand, start indices and result of a gather.

    The last axis of ``start_indices`` holds index vectors; each is the start of one window of shape
    ``slice_sizes``.

    Args:
        offset_dims: axes of the result that are axes of a window, in order.
        collapsed_slice_dims: axes of the operand on which windows have size 1 and that the result
            lacks.
        start_index_map: the operand's axis that each component of an index vector is for.
        operand_batching_dims: axes of the operand on which the window's start is the position
            along the axis of ``start_indices`` that ``start_indices_batching_dims`` pairs with it.
        start_indices_batching_dims: those axes of ``start_indices``.
    """

    offset_dims: Shape
    collapsed_slice_dims: Shape
    start_index_map: Shape
    operand_batching_dims: Shape = ()
    start_indices_batching_dims: Shape = ()


_GATHER_FIELDS = GatherDimensionNumbers._fields


def window_axes(dn: GatherDimensionNumbers, ndim: int) -> list[int]:
    """The operand's axes that are axes of windows in the result, in order."""
    dropped = {*dn.collapsed_slice_dims, *dn.operand_batching_dims}
    return [i for i in range(ndim) if i not in dropped]


def gathered_shape(
    operand: Shape, indices: Shape, dn: GatherDimensionNumbers, slice_sizes: Shape
) -> Shape:
    """The shape of a gather's result."""
    n = len(dn.offset_dims) + len(indices) - 1
    windows = iter([slice_sizes[i] for i in window_axes(dn, len(operand))])
    positions = iter(indices[:-1])
    return tuple([next(windows) if i in dn.offset_dims else next(positions) for i in range(n)])


def check_dimension_numbers(
    name: str,
    operand: Shape,
    indices: ShapedArray,
    dn: GatherDimensionNumbers,
    fields: tuple[str, ...] = _GATHER_FIELDS,
) -> None:
    """Raise unless ``dn`` describes a gather; ``fields`` are the names that the user knows."""
    window, collapsed, mapped, batching, paired = fields
    ndim, rank = len(operand), len(indices.shape)

    def fail(problem: str) -> NoReturn:
        numbers = ", ".join(f"{f}={v}" for f, v in zip(fields, dn))
        raise TypeError(
            f"lax.{name} got an operand of shape {operand}, indices of shape {indices.shape} and "
            f"dimension numbers {numbers}{here()}: {problem}."
        )

    if indices.dtype.kind not in "iu" or rank == 0:
        raise ElementTypeError(
            f"lax.{name} got indices of type {indices.str_short()}{here()}: they must be integers "
            "with at least one axis, the last of which holds index vectors."
        )
    out_rank = rank - 1 + len(dn.offset_dims)
    for field, axes in zip(fields, dn):
        arguments.items(field, axes, arguments.integer)
    for field, axes, bound in (
        (window, dn.offset_dims, out_rank),
        (collapsed, dn.collapsed_slice_dims, ndim),
        (batching, dn.operand_batching_dims, ndim),
    ):
        if list(axes) != sorted(set(axes)):
            fail(f"{field} must increase")
        if any(not 0 <= a < bound for a in axes):
            fail(f"{field} must be at least 0 and less than {bound}")
    for field, axes, bound in (
        (mapped, dn.start_index_map, ndim),
        (paired, dn.start_indices_batching_dims, rank - 1),
    ):
        if len(set(axes)) != len(axes) or any(not 0 <= a < bound for a in axes):
            fail(f"{field} must be distinct, at least 0 and less than {bound}")
    _check_pairing(fail, operand, indices, dn, fields)


def _check_pairing(
    fail: Callable[[str], NoReturn],
    operand: Shape,
    indices: ShapedArray,
    dn: GatherDimensionNumbers,
    fields: tuple[str, ...],
) -> None:
    window, collapsed, mapped, batching, paired = fields
    both = set(dn.operand_batching_dims)
    if both & {*dn.collapsed_slice_dims, *dn.start_index_map}:
        fail(f"{batching} must have no axis in common with {collapsed} and {mapped}")
    if len(dn.start_index_map) != indices.shape[-1]:
        fail(f"{mapped} must name one axis for each of the {indices.shape[-1]} components of "
             "an index vector")  # fmt: skip
    if len(window_axes(dn, len(operand))) != len(dn.offset_dims):
        fail(f"{window} must have one axis for each of the operand's that is neither in "
             f"{collapsed} nor in {batching}")  # fmt: skip
    pairs = list(zip(dn.operand_batching_dims, dn.start_indices_batching_dims))
    if len(both) != len(dn.start_indices_batching_dims) or any(
        operand[o] != indices.shape[i] for o, i in pairs
    ):
        fail(f"{batching} and {paired} must pair axes of equal size")
