"""High primitives on polar numbers: their methods are their rules in the tables of others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import ShapedArray
from dovetail_hijax import HiPrimitive, instantiate_zeros

from .polar import Polar, PolarType


class Make(HiPrimitive):
    """A polar number from amplitude and phase."""

    def abstract_eval(self, amplitude: ShapedArray, phase: ShapedArray) -> PolarType:
        if amplitude.strong() != phase.strong():
            raise TypeError(
                f"a polar number has amplitude and phase of one type, got {amplitude.str_short()} "
                f"and {phase.str_short()}. Convert or reshape one of them."
            )
        return PolarType(amplitude.shape, amplitude.dtype)

    def to_lo(self, amplitude: Any, phase: Any) -> Polar:
        return Polar(amplitude, phase)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return self.bind(*primals), self.bind(*map(instantiate_zeros, tangents))

    def transpose(self, cotangent: Any, amplitude: Any, phase: Any) -> list[Any]:
        return [part_p.bind(cotangent, part=0), part_p.bind(cotangent, part=1)]

    def batch(self, axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, int]:
        return self.bind(*(_leading(axis.size, x, d) for x, d in zip(args, dims))), 0


class Part(HiPrimitive):
    """The amplitude (part 0) or the phase (part 1) of a polar number."""

    def abstract_eval(self, value: PolarType, *, part: int) -> ShapedArray:
        return ShapedArray(value.shape, value.dtype)

    def to_lo(self, value: Polar, *, part: int) -> Any:
        return value.phase if part else value.amplitude

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any], *, part: int) -> tuple[Any, Any]:
        return self.bind(*primals, part=part), self.bind(*tangents, part=part)

    def transpose(self, cotangent: Any, value: Any, *, part: int) -> list[Any]:
        zero = dnp.zeros_like(cotangent)
        return [make_p.bind(*((zero, cotangent) if part else (cotangent, zero)))]

    def batch(
        self, axis: Any, args: Sequence[Any], dims: Sequence[Any], *, part: int
    ) -> tuple[Any, Any]:
        return self.bind(*args, part=part), dims[0]


def _leading(size: int, x: Any, dim: int | None) -> Any:
    """An operand with its mapped axis in front; one for all is repeated."""
    if dim is None:
        return dnp.broadcast_to(x, (size, *x.shape))
    return dnp.moveaxis(x, dim, 0)


make_p = Make("acme.make")
part_p = Part("acme.part")
