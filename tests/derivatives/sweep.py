"""Derivatives of all modes at many points, and their errors in roundings."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

from .cases import ACTIVATIONS, ELEMENTARY, Case
from .jets import Jet
from .modes import MODES
from .points import points
from .special_cases import SPECIAL

CASES = ELEMENTARY | ACTIVATIONS | SPECIAL

MOST = 16.0
"""Roundings that a derivative may be off by."""
BEYOND = {
    "nn.gelu(x)": (260, "the exponent, up to 700, is computed of x with roundings of its own"),
}
"""Functions whose derivatives are off by more, by how many, and why."""
BOTTOM = 2.0**10
"""Results that are less than so many times the least normal number are left out."""


def places(case: Case, dtype: Any, n: int) -> Any:
    """The points of a case."""
    x = points(dtype, n, case.domain, case.near)
    for low, high in case.left_out:
        x = x[(x < low) | (x > high)]
    return x


def exact(case: Case, x: Any) -> list[tuple[Any, Any]]:
    """The first and second derivative at each point; NaN where there is none."""
    found = []
    for v in x:
        with mp.workprec(case.bits):
            try:
                out = case.exact(Jet(mp.mpf(float(v)), mp.mpf(1)))
                found.append((out.first, out.second))
            except (ZeroDivisionError, ValueError, OverflowError, mp.libmp.NoConvergence):
                found.append((mp.nan, mp.nan))
    return found


def roundings(got: Any, want: Any) -> Any:
    """The error of each result in units of its last place; NaN where the type lacks the result.

    Results next to the least normal number are left out, too: XLA takes numbers below that for
    zero, and such results are products with a factor that is smaller.
    """
    info, out = np.finfo(got.dtype), np.full(len(want), np.nan)
    for i, w in enumerate(want):
        if isinstance(w, mp.mpc) or not mp.isfinite(w):
            continue
        size = abs(w)
        if w == 0:
            out[i] = 0.0 if got[i] == 0 else np.inf
        elif BOTTOM * info.tiny <= size <= info.max:
            wrong = abs(mp.mpf(float(got[i])) - w) if np.isfinite(got[i]) else mp.inf
            out[i] = float(wrong / mp.mpf(float(np.spacing(got.dtype.type(float(size))))))
    return out


def errors(values: list[Any], wanted: list[tuple[Any, Any]]) -> dict[str, Any]:
    """The errors of each of ``MODES``, in roundings."""
    first, second = zip(*wanted)
    return {
        mode: roundings(np.asarray(got), first if i < 2 else second)
        for i, (mode, got) in enumerate(zip(MODES, values))
    }
