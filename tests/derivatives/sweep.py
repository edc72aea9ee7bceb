"""Derivatives of all modes at many points, and their errors in roundings."""

from __future__ import annotations

from typing import Any

import mpmath as mp
import numpy as np

from .cases import ACTIVATIONS, ELEMENTARY
from .lines import Sized
from .matrices import MATRICES
from .modes import MODES
from .special_cases import SPECIAL

ELEMENTWISE = ELEMENTARY | ACTIVATIONS | SPECIAL
CASES = ELEMENTWISE | MATRICES

BEYOND = {
    "nn.gelu(x)": (260, "the exponent, up to 700, is computed of x with roundings of its own, "
                        "which the value has, too"),
    "scipy.linalg.polar(x)[1]": (float("inf"), "it is computed by the unitary factor, whose second "
                                 "derivatives the type does not hold at scales beyond its root"),
}  # fmt: skip
"""Functions whose derivatives are off by more, by how many, and why."""
BOTTOM = 2.0**10
"""Results that are less than so many times the least normal number are left out."""
TOP = 2.0**6
"""Sums over matrices are left out that are more than the greatest number over this: so may their
terms be, and the terms of these; and those whose roundings are less than the least normal number,
since XLA takes terms of that size for zero."""


def roundings(got: Any, want: Any) -> Any:
    """The error of each result in units of its last place; NaN where the type lacks the result.

    Results next to the least normal number are left out, too: XLA takes numbers below that for
    zero, and such results are products with a factor that is smaller.
    """
    info, out = np.finfo(got.dtype), np.full(len(want), np.nan)
    for i, w in enumerate(want):
        sized = isinstance(w, Sized)
        w, size = w if sized else (w, abs(w))
        low, high = (1 / info.eps, info.max / TOP) if sized else (BOTTOM, info.max)
        if isinstance(w, mp.mpc) or not mp.isfinite(w):
            continue
        if w == 0:
            out[i] = 0.0 if got[i] == 0 else np.inf
        elif low * info.tiny <= size <= high:
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
