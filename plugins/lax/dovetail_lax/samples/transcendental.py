"""Samples of exponentials, logarithms and trigonometric functions."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail_testing import Sample

from ..primitives import transcendental as t
from .kinds import FLOATS, one_operand, operands

DOMAINS = {
    t.exp_p: (-2.0, 2.0),
    t.exp2_p: (-2.0, 2.0),
    t.expm1_p: (-2.0, 2.0),
    t.log_p: (0.5, 4.0),
    t.log1p_p: (-0.5, 4.0),
    t.logistic_p: (-4.0, 4.0),
    t.sin_p: (-4.0, 4.0),
    t.cos_p: (-4.0, 4.0),
    t.tan_p: (-1.0, 1.0),
    t.asin_p: (-0.7, 0.7),
    t.acos_p: (-0.7, 0.7),
    t.atan_p: (-2.0, 2.0),
    t.sinh_p: (-2.0, 2.0),
    t.cosh_p: (-2.0, 2.0),
    t.tanh_p: (-2.0, 2.0),
    t.asinh_p: (-2.0, 2.0),
    t.acosh_p: (1.5, 4.0),
    t.atanh_p: (-0.7, 0.7),
}


def samples() -> Iterator[Sample]:
    """Every function on its domain; outside of it and at its limits in single precision."""
    for primitive, domain in DOMAINS.items():
        dtypes = (*FLOATS, "complex64")
        yield from one_operand(primitive, domain, dtypes, extremes=("float32",))
    ranges = [(-2.0, 2.0), (0.5, 2.0)]
    yield from operands(t.atan2_p, ranges, FLOATS, extremes=("float32",))
    yield from operands(t.atan2_p, [(0.1, 0.5), (1.0, 2.0)], ("complex64",))
