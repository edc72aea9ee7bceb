"""The law of the rule table: what every rule must obey, tried on the samples of all primitives."""

from __future__ import annotations

import numpy as np
from dovetail_core import MissingRule, lift_call
from dovetail_testing import Sample, law, skip

from .bounds import CARRIER, bounds_rules


def _speaks_of(sample: Sample) -> bool:
    real = all(getattr(a, "dtype", np.dtype(bool)).kind == "f" for a in sample.avals)
    return real and bounds_rules.get(sample.primitive) is not None


@law("bounds", without=("empty", "extreme", "nonsmooth"), applies=_speaks_of)
def bounds_law(sample: Sample) -> None:
    """Results of operands between bounds are between the result's bounds."""
    rng = np.random.default_rng(0)
    widths = [np.abs(rng.standard_normal(np.shape(x))) for x in sample.args]
    lows = [(x - w).astype(np.result_type(x)) for x, w in zip(sample.args, widths)]
    highs = [(x + w).astype(np.result_type(x)) for x, w in zip(sample.args, widths)]
    try:
        found = lift_call(CARRIER, sample.flat, list(zip(lows, highs)))
    except MissingRule as e:
        skip(f"a primitive inside of it has no rule: {e}")
    for at in (0.0, 0.3, 0.9, 1.0):
        inside = [(a + at * (b - a)).astype(a.dtype) for a, b in zip(lows, highs)]
        for y, (low, high) in zip(sample.flat(*inside), found):
            slack = 1e-2 * (1 + np.abs(y))
            assert np.all(low - slack <= y) and np.all(y <= high + slack), f"{y} at {inside}"
