"""Trends of signals."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.arguments import axis_of
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact_arrays, one_of

_TYPES = ("linear", "l", "constant", "c")


@reword_errors
def detrend(
    data: ArrayLike,
    axis: int = -1,
    type: str = "linear",
    bp: Any = 0,
    overwrite_data: None = None,
) -> Array:
    """Signals less their trend along an axis.

    Args:
        type: ``"linear"``: a least-squares line; ``"constant"``: the mean.
        bp: the indices at which lines end and others begin: one, or several.
        overwrite_data: None.

    Raises:
        NotImplementedError: ``overwrite_data`` is given.
        ValueError: an option is unknown, or an index or the axis is out of bounds.
    """
    one_of("detrend", "type", type, _TYPES)
    if overwrite_data is not None:
        raise NotImplementedError(
            f"detrend: overwrite_data is not supported{here()}: arrays are immutable. Leave it out."
        )
    (x,) = inexact_arrays("detrend", data)
    along = axis_of("detrend", axis, x.ndim)
    n = x.shape[along]
    given = [arguments.integer("bp", i) for i in np.atleast_1d(bp).tolist()]
    if any(not 0 <= i <= n for i in given):
        raise ValueError(f"detrend: bp {given} of a signal of {n} elements{here()}")
    ends = (0, n) if type[0] == "c" else tuple(sorted({0, *given, n}))
    return _detrend(x, axis=along, ends=ends, linear=type[0] == "l")


@fused(static=("axis", "ends", "linear"))
def _detrend(x: Any, axis: int, ends: tuple[int, ...], linear: bool) -> Any:
    if not linear:
        return x - dnp.mean(x, axis=axis, keepdims=True)
    x = dnp.moveaxis(x, axis, -1)
    parts = [_without_line(x[..., a:b]) for a, b in pairwise(ends)]
    return dnp.moveaxis(dnp.concatenate(parts, axis=-1) if parts else x, -1, axis)


def _without_line(x: Any) -> Any:
    """``x`` less its projections on the constant and on the line that is orthogonal to it."""
    n = x.shape[-1]
    slope = np.arange(n) - (n - 1) / 2
    slope /= max(np.sqrt(np.sum(slope**2)), 1e-300)
    line = dnp.asarray(slope.astype(dnp.real(x).dtype)).reshape(*(1,) * (x.ndim - 1), n)
    x = x - dnp.mean(x, axis=-1, keepdims=True)
    return x - dnp.sum(x * line, axis=-1, keepdims=True) * line
