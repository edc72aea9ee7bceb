"""Samples of special functions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from dovetail_testing import Sample

from ..primitives import incomplete, special as s, zeta
from .kinds import FLOATS, one_operand, operands, undifferentiated

DOMAINS = {
    s.erf_p: (-2.0, 2.0),
    s.erfc_p: (-2.0, 2.0),
    s.erf_inv_p: (-0.9, 0.9),
    s.lgamma_p: (0.5, 5.0),
    s.digamma_p: (0.5, 5.0),
    s.bessel_i0e_p: (-6.0, 12.0),
    s.bessel_i1e_p: (-6.0, 12.0),
}
SCALES = {s.lgamma_p: 1.0, s.digamma_p: 1.0}
"""What cancels near roots. Of lgamma, at 1 and 2: Lanczos' method adds five terms of up to 8.5,
half a rounding each, which is 22 roundings of 1 (18.6 were seen; it differs by instruction set). Of
digamma, at 1.46: a logarithm of up to 2.3 and a series."""
POSITIVE = (0.5, 5.0)


def samples() -> Iterator[Sample]:
    """Every function on its domain; at its limits where they are defined."""
    for primitive, domain in DOMAINS.items():
        for sample in one_operand(primitive, domain, FLOATS):
            yield replace(sample, scale=SCALES.get(primitive, 0.0))
    for p in (s.erf_p, s.erfc_p, s.bessel_i0e_p, s.bessel_i1e_p):
        yield from one_operand(p, DOMAINS[p], ["float32"], extremes=("float32",))
    narrow = ("float32", "bfloat16")
    for p in (incomplete.igamma_p, incomplete.igammac_p):
        yield from operands(p, [POSITIVE, POSITIVE], narrow)
    # Differentiable forwards only.
    for p in (incomplete.igamma_grad_a_p, incomplete.random_gamma_grad_p):
        yield from map(undifferentiated, operands(p, [POSITIVE, POSITIVE], narrow))
    # Differentiable in the last operand only.
    beta = [POSITIVE, POSITIVE, (0.1, 0.9)]
    yield from map(
        undifferentiated, operands(incomplete.regularized_incomplete_beta_p, beta, narrow)
    )
    for p in (zeta.zeta_p, s.positive_zeta_p):
        yield from map(undifferentiated, operands(p, [(2.0, 5.0), POSITIVE], narrow))
    orders = np.array([0, 1, 2, 3], np.float32)
    points = np.array([0.5, 1.5, 2.5, 3.5], np.float32)
    for p in (zeta.polygamma_p, s.positive_polygamma_p):
        yield undifferentiated(Sample(p, (orders, points)))
    yield undifferentiated(Sample(zeta.polygamma_p, (orders, -points - np.float32(0.25))))
