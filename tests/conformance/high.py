"""A high type and two operations on its values, right or with methods changed."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import HiType, ShapedArray, register_hitype
from dovetail_hijax import HiPrimitive, instantiate_zeros
from dovetail_testing import Sample

_numbers = count()


def polar(
    of_type: dict[str, Any] | None = None, of_make: dict[str, Any] | None = None
) -> list[Sample]:
    """Samples of operations on polar numbers; methods of the type and of ``make`` may change."""

    @dataclass(frozen=True, eq=False)
    class Polar:
        amplitude: Any
        phase: Any

    @dataclass(frozen=True)
    class PolarType(HiType):
        shape: tuple[int, ...]

        def lo_ty(self) -> Any:
            return [ShapedArray(self.shape, "float32")] * 2

        def lower_val(self, value: Any) -> Any:
            return [value.amplitude, value.phase]

        def raise_val(self, *arrays: Any) -> Any:
            return Polar(*arrays)

        def tangent_type(self) -> Any:
            return self

        def mapped(self, size: int, spec: Any) -> Any:
            return type(self)(self.shape[:spec] + self.shape[spec + 1 :])

        def unmapped(self, size: int, spec: Any) -> Any:
            return type(self)((*self.shape[:spec], size, *self.shape[spec:]))

        def str_short(self) -> str:
            return f"polar{list(self.shape)}"

    class Make(HiPrimitive):
        def abstract_eval(self, amplitude: Any, phase: Any) -> Any:
            if not amplitude.dtype == phase.dtype == np.float32 or amplitude.shape != phase.shape:
                raise TypeError("amplitudes and phases are float32, of one shape")
            return kind(amplitude.shape)

        def to_lo(self, amplitude: Any, phase: Any) -> Any:
            return Polar(amplitude, lax.add(phase, phase))

        def jvp(self, primals: Any, tangents: Any) -> Any:
            return self.bind(*primals), self.bind(*map(instantiate_zeros, tangents))

        def batch(self, axis: Any, args: Any, dims: Any) -> Any:
            from .subjects import in_front

            return self.bind(*in_front(args, dims, axis.size)), 0

    class Phase(HiPrimitive):
        def abstract_eval(self, value: Any) -> Any:
            return ShapedArray(value.shape, "float32")

        def to_lo(self, value: Any) -> Any:
            return value.phase

        def jvp(self, primals: Any, tangents: Any) -> Any:
            return self.bind(*primals), self.bind(*tangents)

        def batch(self, axis: Any, args: Any, dims: Any) -> Any:
            return self.bind(*args), dims[0]

    kind = type("PolarType", (PolarType,), of_type or {})
    n = next(_numbers)
    make = type("Make", (Make,), of_make or {})(f"conformance.make_{n}")
    phase = Phase(f"conformance.phase_{n}")
    register_hitype(Polar, lambda p: kind(np.shape(p.amplitude)))
    amplitudes, phases = np.array([2.0, 0.5], np.float32), np.array([0.25, -1.0], np.float32)

    def oracle(amplitude: Any, phase: Any) -> Any:
        return Polar(amplitude, 2 * phase)

    return [
        Sample(make.primitive, (amplitudes, phases), oracle=oracle),
        Sample(phase.primitive, (Polar(amplitudes, phases),), oracle=lambda p: p.phase),
    ]
