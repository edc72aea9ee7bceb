"""A high type: two arrays of one shape."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dovetail_core import HiType, ShapedArray, register_hitype, typeof


@dataclass(frozen=True)
class PairType(HiType):
    """The type of pairs."""

    shape: tuple[int, ...]

    def lo_ty(self):
        return [ShapedArray(self.shape, "float32")] * 2

    def lower_val(self, value):
        return [value.first, value.second]

    def raise_val(self, *arrays):
        return Pair(*arrays)

    def tangent_type(self):
        return self

    def mapped(self, size, spec):
        return PairType(self.shape[:spec] + self.shape[spec + 1 :])

    def unmapped(self, size, spec):
        return PairType((*self.shape[:spec], size, *self.shape[spec:]))

    def str_short(self):
        return f"api1_pair{list(self.shape)}"


@dataclass(frozen=True, eq=False)
class Pair:
    """A pair of arrays."""

    first: Any
    second: Any


register_hitype(Pair, lambda p: PairType(typeof(p.first).shape))
