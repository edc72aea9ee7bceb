"""Complex numbers in polar form: the type, the values, and the functions for users."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dovetail_core import HiType, ShapedArray, register_hitype, typeof


@dataclass(frozen=True)
class PolarType(HiType):
    """The type of an array of numbers that are given by amplitude and phase."""

    shape: tuple[int, ...]
    dtype: Any

    def lo_ty(self) -> list[ShapedArray]:
        return [ShapedArray(self.shape, self.dtype)] * 2

    def lower_val(self, value: Polar) -> list[Any]:
        return [value.amplitude, value.phase]

    def raise_val(self, *arrays: Any) -> Polar:
        return Polar(*arrays)

    def tangent_type(self) -> PolarType:
        return self

    def mapped(self, size: int, spec: int) -> PolarType:
        return PolarType(self.shape[:spec] + self.shape[spec + 1 :], self.dtype)

    def unmapped(self, size: int, spec: int) -> PolarType:
        return PolarType((*self.shape[:spec], size, *self.shape[spec:]), self.dtype)

    def str_short(self) -> str:
        return f"polar{list(self.shape)}"


@dataclass(frozen=True, eq=False)
class Polar:
    """What users hold: ``amplitude`` and ``phase`` are arrays of one shape and floating dtype."""

    amplitude: Any
    phase: Any


def _type_of(value: Polar) -> PolarType:
    amplitude: Any = typeof(value.amplitude)
    return PolarType(amplitude.shape, amplitude.dtype)


register_hitype(Polar, _type_of)


def real(value: Any) -> Any:
    """The real part of a polar number, an array of its shape."""
    import dovetail_numpy as dnp

    amplitude, phase = _parts(value)
    return amplitude * dnp.cos(phase)


def power(value: Any, n: int) -> Any:
    """The ``n``-th power of a polar number, a polar number."""
    from .operations import make_p

    amplitude, phase = _parts(value)
    return make_p.bind(amplitude**n, phase * n)


def _parts(value: Any) -> Sequence[Any]:
    from .operations import part_p

    return [part_p.bind(value, part=part) for part in (0, 1)]
