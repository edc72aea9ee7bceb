"""Samples of transcendental and special functions, and of the derivatives of some."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dovetail_testing import Sample

from ..primitives import numerical as num, slopes as d, special as s, transcendental as t
from .kinds import FLOATS, one_operand, operands, undifferentiated

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


def _transcendental() -> Iterator[Sample]:
    """Every function on its domain; outside of it and at its limits in single precision."""
    for primitive, domain in DOMAINS.items():
        dtypes = (*FLOATS, "complex64")
        yield from one_operand(primitive, domain, dtypes, extremes=("float32",))
    ranges = [(-2.0, 2.0), (0.5, 2.0)]
    yield from operands(t.atan2_p, ranges, FLOATS, extremes=("float32",))
    yield from operands(t.atan2_p, [(0.1, 0.5), (1.0, 2.0)], ("complex64",))


SPECIAL_DOMAINS = {
    s.erf_p: (-2.0, 2.0),
    s.erfc_p: (-2.0, 2.0),
    s.erf_inv_p: (-0.9, 0.9),
    s.lgamma_p: (0.5, 5.0),
    s.digamma_p: (0.5, 5.0),
    s.bessel_i0e_p: (-6.0, 12.0),
    s.bessel_i1e_p: (-6.0, 12.0),
}
SCALES = {s.digamma_p: 1.0}
"""Terms that cancel near roots: of digamma, at 1.46, a logarithm of up to 2.3 and a series."""
POSITIVE = (0.5, 5.0)


def _special() -> Iterator[Sample]:
    """Every function on its domain; at its limits where they are defined."""
    for primitive, domain in SPECIAL_DOMAINS.items():
        for sample in one_operand(primitive, domain, FLOATS):
            yield replace(sample, scale=SCALES.get(primitive, 0.0))
    for p in (s.erf_p, s.erfc_p, s.bessel_i0e_p, s.bessel_i1e_p):
        yield from one_operand(p, SPECIAL_DOMAINS[p], ["float32"], extremes=("float32",))
    narrow = ("float32", "bfloat16")
    for p in (num.igamma_p, num.igammac_p):
        yield from operands(p, [POSITIVE, POSITIVE], narrow)
    # Differentiable forwards only.
    for p in (num.igamma_grad_a_p, num.random_gamma_grad_p):
        yield from map(undifferentiated, operands(p, [POSITIVE, POSITIVE], narrow))
    # Differentiable in the last operand only.
    beta = [POSITIVE, POSITIVE, (0.1, 0.9)]
    yield from map(undifferentiated, operands(num.regularized_incomplete_beta_p, beta, narrow))
    for p in (num.zeta_p, s.positive_zeta_p):
        yield from map(undifferentiated, operands(p, [(2.0, 5.0), POSITIVE], narrow))
    orders = np.array([0, 1, 2, 3], np.float32)
    points = np.array([0.5, 1.5, 2.5, 3.5], np.float32)
    for p in (num.polygamma_p, s.positive_polygamma_p):
        yield undifferentiated(Sample(p, (orders, points)))
    yield undifferentiated(Sample(num.polygamma_p, (orders, -points - np.float32(0.25))))


SLOPE_DOMAINS = {
    d.logistic_slope_p: (-4.0, 4.0),
    d.tanh_slope_p: (-2.0, 2.0),
    d.asin_slope_p: (-0.5, 0.5),
    d.atan_slope_p: (-0.7, 0.7),
    d.asinh_slope_p: (-0.7, 0.7),
    d.acosh_slope_p: (1.5, 4.0),
    d.atanh_slope_p: (-0.5, 0.5),
}
REAL = {d.erf_slope_p: (-2.0, 2.0), d.normal_density_p: (-2.0, 2.0)}
# Off by ten roundings in single precision: too many for differences.
COARSE = {
    d.erf_inv_slope_p: (-0.6, 0.6),
    d.precise_erf_inv_p: (-0.9, 0.9),
    d.trigamma_p: (1.0, 5.0),
    d.tetragamma_p: (1.0, 5.0),
}


def _slopes() -> Iterator[Sample]:
    """Every one on its domain; outside of it and at its limits in single precision."""
    for primitive, domain in SLOPE_DOMAINS.items():
        dtypes = (*FLOATS, "complex64")
        yield from one_operand(primitive, domain, dtypes, extremes=("float32",))
    for primitive, domain in REAL.items():
        yield from one_operand(primitive, domain, FLOATS, extremes=("float32",))
    for primitive, domain in COARSE.items():
        yield from map(undifferentiated, one_operand(primitive, domain, FLOATS))
    for n, order in ((0, 1), (0, 2), (1, 1), (1, 2), (1, 4)):
        yield from map(undifferentiated, one_operand(
            d.scaled_bessel_slope_p, (-6.0, 12.0), FLOATS, n=n, order=order))  # fmt: skip


def samples() -> Iterator[Sample]:
    """The samples of each family in turn."""
    yield from _transcendental()
    yield from _special()
    yield from _slopes()
