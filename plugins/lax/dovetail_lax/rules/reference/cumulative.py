"""Cumulative operations with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import reference_rules
from dovetail_core import Primitive

from ...primitives.cumulative import cumlogsumexp_p, cummax_p, cummin_p, cumprod_p, cumsum_p
from .kinds import Array, quiet
from .reductions import computing


def _cumulative(primitive: Primitive, accumulate: Callable[..., Any]) -> None:
    def rule(x: Array, *, axis: int, reverse: bool) -> Array:
        wide = computing(x)
        if reverse:
            wide = np.flip(wide, axis)
        out = accumulate(wide, axis=axis)
        return np.asarray(np.flip(out, axis) if reverse else out).astype(x.dtype)

    reference_rules.set(primitive, quiet(rule))


def _logsumexp(x: Array, axis: int) -> Array:
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis=axis)
    # Sums relative to the largest real part so far would need a scan; relative to that of the
    # whole axis they are exact enough in double precision for parts of moderate size.
    largest = np.max(x.real, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)
    return np.log(np.cumsum(np.exp(x - largest), axis=axis)) + largest


_cumulative(cumsum_p, np.cumsum)
_cumulative(cumprod_p, np.cumprod)
_cumulative(cummax_p, np.maximum.accumulate)
_cumulative(cummin_p, np.minimum.accumulate)
_cumulative(cumlogsumexp_p, _logsumexp)
