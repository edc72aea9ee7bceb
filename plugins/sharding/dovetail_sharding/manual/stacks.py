"""What differs from device to device, seen from outside of ``shard_map``: stacks of parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from dovetail_core import HiType, manual_axis_types, register_hitype


class Stack:
    """What the devices have of a value: the stacks of the parts of its arrays."""

    __slots__ = ("aval", "arrays")

    def __init__(self, aval: StackType, arrays: tuple[Any, ...]) -> None:
        self.aval, self.arrays = aval, arrays


@dataclass(frozen=True)
class StackType(HiType):
    """The type of values of type ``part``, one on each device; residuals have such types.

    Attributes:
        mesh: of the devices. axes: of it, along which parts may differ.
    """

    part: Any
    mesh: Any
    axes: tuple[Any, ...]

    def lo_ty(self) -> Any:
        return [self._outside(a) for a in self.part.lo_ty()]

    def _outside(self, aval: Any) -> Any:
        return outside(aval, self.mesh, self.axes)

    def lower_val(self, value: Stack) -> Any:
        return value.arrays

    def raise_val(self, *arrays: Any) -> Stack:
        return Stack(self, arrays)

    def tangent_type(self) -> Any:
        return self._outside(self.part.tangent_type())

    def str_short(self) -> str:
        return f"stack of {self.part.str_short()}"


register_hitype(Stack, lambda x: x.aval)


def stacked_over(aval: Any, axes: Sequence[Any]) -> tuple[Any, ...]:
    """The axes over which an input or output of a program is a stack, in the mesh's order: those
    along which devices have different values or summands, or their cotangents are such."""
    told = manual_axis_types.axes_of(aval.vma)
    return tuple(a for a in axes if a in told)


def outside(aval: Any, mesh: Any, axes: Sequence[Any]) -> Any:
    """The type, on the outside, of an input or output of a program."""
    if isinstance(aval, HiType):
        if not any(stacked_over(a, axes) for a in aval.lo_ty()):
            return aval
        return StackType(aval, mesh.abstract_mesh, tuple(axes))
    over = stacked_over(aval, axes)
    if not over:
        return aval
    left = frozenset([r for r in aval.vma if manual_axis_types.axis_of(r) not in over])
    size = prod(mesh.shape[a] for a in over)
    return aval.update(shape=(size, *aval.shape), vma=left)
