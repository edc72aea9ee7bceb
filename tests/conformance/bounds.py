"""A forward transformation of a third party: bounds, with its law; its carrier can be changed."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import Carrier, LiftTrace, RuleTable, algebra, derive, lift_call, typeof
from dovetail_testing import Law, Sample

PRIMITIVES = ("cond", "scan")

bounds_rules: RuleTable[Any] = RuleTable("conformance.bounds", derive=derive)
"""``rule(carrier, args, params)``: from pairs of bounds to a pair."""


class BoundsTrace(LiftTrace[Any]):
    __slots__ = ()
    what = "bounds"


class Bounds(Carrier[Any, bool]):
    """Lifted values are pairs; where the value is known, both are one object."""

    def trace(self, parent: Any) -> BoundsTrace:
        return BoundsTrace(parent, self, bounds_rules)

    @property
    def key(self) -> Any:  # type: ignore[override]
        return type(self)

    def pure(self, x: Any) -> Any:
        return x, x

    def aval(self, value: Any) -> Any:
        return typeof(value[0])

    def structure(self, value: Any, depth: int) -> bool:
        return value[0] is not value[1]

    def join_structures(self, a: bool, b: bool) -> bool:
        return a or b

    def types(self, aval: Any, structure: bool) -> Any:
        return (aval, aval) if structure else (aval,)

    def arrays(self, value: Any, structure: bool, depth: int) -> Any:
        return value if structure else value[:1]

    def value(self, arrays: Any, structure: bool, depth: int) -> Any:
        return arrays[0], arrays[-1]

    def known(self, value: Any) -> Any:
        return value[0] if value[0] is value[1] else None

    def select(self, index: Any, cases: Any) -> Any:
        low, high = cases[0]
        for a, b in cases[1:]:
            low, high = algebra().min(low, a), algebra().max(high, b)
        return low, high


def _monotone(primitive: Any, directions: str) -> None:
    def rule(carrier: Any, args: Any, params: Any) -> Any:
        low = [a[d == "-"] for a, d in zip(args, directions)]
        high = [a[d == "+"] for a, d in zip(args, directions)]
        return primitive.bind(*low, **params), primitive.bind(*high, **params)

    bounds_rules.set(primitive, rule)


_monotone(lax.add_p, "++")
_monotone(lax.neg_p, "-")
_monotone(lax.reduce_sum_p, "+")
_monotone(lax.broadcast_in_dim_p, "+")
_monotone(lax.convert_element_type_p, "+")


@bounds_rules.register(lax.mul_p)
def _mul(carrier: Any, args: Any, params: Any) -> Any:
    (a, b), (c, d) = args
    products = [lax.mul_p.bind(x, y, **params) for x in (a, b) for y in (c, d)]
    low = high = products[0]
    for p in products[1:]:
        low, high = algebra().min(low, p), algebra().max(high, p)
    return low, high


@bounds_rules.register(lax.sin_p)
def _bounded(carrier: Any, args: Any, params: Any) -> Any:
    y = lax.sin_p.bind(args[0][0], **params)
    return lax.full_like(y, -1), lax.full_like(y, 1)


@bounds_rules.register(lax.cos_p)
def _cos(carrier: Any, args: Any, params: Any) -> Any:
    return _bounded(carrier, args, params)


@bounds_rules.register(lax.lt_p)
def _lt(carrier: Any, args: Any, params: Any) -> Any:
    (a, b), (c, d) = args
    return lax.lt_p.bind(b, c), lax.lt_p.bind(a, d)


def bounds_law(carrier: Bounds) -> Law:
    """Results of operands between bounds are between the result's bounds."""

    def speaks_of(sample: Sample) -> bool:
        if sample.primitive.name not in PRIMITIVES or "float32" not in map(_dtype, sample.args):
            return False
        return all(_dtype(x) in ("float32", "int32") for x in sample.args)

    def check(sample: Sample) -> None:
        pairs = [_around(x) for x in sample.args]
        result = lift_call(carrier, sample.flat, pairs)
        for part in (0.0, 0.4, 1.0):
            inside = [(a + part * (b - a)).astype(a.dtype)[()] for a, b in pairs]
            for y, (low, high) in zip(sample.flat(*inside), result, strict=True):
                y, low, high = (np.asarray(v, np.float64) for v in (y, low, high))
                assert y.shape == low.shape == high.shape, f"shapes {low.shape}, {high.shape}"
                slack = 1e-4 * (1 + np.abs(y))
                inside_ = (low - slack <= y) & (y <= high + slack)
                assert inside_.all(), f"{y} is not between {low} and {high}"

    return Law("bounds", check, frozenset({"open-ended", "extreme", "nonsmooth"}), speaks_of)


def _dtype(x: Any) -> str:
    return getattr(x, "dtype", np.dtype(object)).name


def _around(x: Any) -> Any:
    """Bounds of floating-point numbers; of an integer, which may be an index, two equal ones."""
    array = np.asarray(x)
    width = np.float32(0.25) if array.dtype.kind == "f" else array.dtype.type(0)
    return array - width, array + width
