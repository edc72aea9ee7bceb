"""Samples of derivatives of elementwise functions, away from where those are steep."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail_testing import Sample

from ..primitives import slopes as s
from .kinds import FLOATS, one_operand, undifferentiated

DOMAINS = {
    s.logistic_slope_p: (-4.0, 4.0),
    s.tanh_slope_p: (-2.0, 2.0),
    s.asin_slope_p: (-0.5, 0.5),
    s.atan_slope_p: (-0.7, 0.7),
    s.asinh_slope_p: (-0.7, 0.7),
    s.acosh_slope_p: (1.5, 4.0),
    s.atanh_slope_p: (-0.5, 0.5),
}
REAL = {s.erf_slope_p: (-2.0, 2.0), s.normal_density_p: (-2.0, 2.0)}
# Off by ten roundings in single precision: too many for differences.
COARSE = {
    s.erf_inv_slope_p: (-0.6, 0.6),
    s.precise_erf_inv_p: (-0.9, 0.9),
    s.trigamma_p: (1.0, 5.0),
    s.tetragamma_p: (1.0, 5.0),
}


def samples() -> Iterator[Sample]:
    """Every one on its domain; outside of it and at its limits in single precision."""
    for primitive, domain in DOMAINS.items():
        dtypes = (*FLOATS, "complex64")
        yield from one_operand(primitive, domain, dtypes, extremes=("float32",))
    for primitive, domain in REAL.items():
        yield from one_operand(primitive, domain, FLOATS, extremes=("float32",))
    for primitive, domain in COARSE.items():
        yield from map(undifferentiated, one_operand(primitive, domain, FLOATS))
    for n, order in ((0, 1), (0, 2), (1, 1), (1, 2), (1, 4)):
        yield from map(undifferentiated, one_operand(
            s.scaled_bessel_slope_p, (-6.0, 12.0), FLOATS, n=n, order=order))  # fmt: skip
