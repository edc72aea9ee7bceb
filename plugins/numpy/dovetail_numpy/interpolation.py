"""Piecewise linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import here
from dovetail_core.base.foreign import names_itself
from dovetail_lax import dtypes

from .creation.arrays import as_array
from .fusion import fused
from .operands import Array, ArrayLike
from .operations import number, select
from .promotion import INT32, convert, promote
from .searching.finding import searchsorted


@names_itself
def interp(
    x: ArrayLike, xp: ArrayLike, fp: ArrayLike, left: ArrayLike | str | None = None,
    right: ArrayLike | str | None = None, period: ArrayLike | None = None,
) -> Array:  # fmt: skip
    """Piecewise linear interpolation at ``x`` of the points ``(xp, fp)``, ``xp`` increasing.

    Args:
        left, right: values outside of the points (default: those at the ends), or
            ``"extrapolate"``.
        period: the period of ``x``; then ``xp`` need not be sorted.

    Raises:
        ValueError: ``xp`` and ``fp`` are not vectors of one length, or ``period`` is 0.
    """
    for name, edge in (("left", left), ("right", right)):
        if isinstance(edge, str) and edge != "extrapolate":
            raise ValueError(
                f"interp: {name} must be a number or 'extrapolate', got {edge!r}{here()}"
            )
    x, xp = (as_array("interp", v) for v in promote("interp", x, xp, inexact=True))
    (fp,) = promote("interp", fp, inexact=True)
    fp = as_array("interp", fp, 2)
    if xp.ndim != 1 or xp.shape != fp.shape:
        raise ValueError(
            f"interp: xp and fp must be vectors of one length, got shapes "
            f"{xp.shape} and {fp.shape}{here()}"
        )
    if period is not None:
        x, xp, fp = _periodic(x, xp, fp, period)
        left = right = None
    ends = [None if e is None or isinstance(e, str) else convert(as_array("interp", e), fp.dtype)
            for e in (left, right)]  # fmt: skip
    return _interp(x, xp, fp, *ends, extend_left=isinstance(left, str),
                   extend_right=isinstance(right, str))  # fmt: skip


def _periodic(x: Any, xp: Any, fp: Any, period: Any) -> tuple[Any, Any, Any]:
    from .ufuncs.arithmetic import REMAINDER

    if not hasattr(period, "aval") and period == 0:
        raise ValueError(f"interp: the period must not be 0{here()}")
    p = lax.abs(convert(as_array("interp", period), x.dtype))
    x, xp = REMAINDER(x, p), REMAINDER(xp, p)
    xp, fp = lax.sort((xp, fp), num_keys=1)
    n = xp.shape[0]
    ends = [lax.slice_in_dim(v, i, i + 1) for v in (xp, fp) for i in (n - 1, 0)]
    shift = lax.reshape(p, (1,))
    xp = lax.concatenate([lax.sub(ends[0], shift), xp, lax.add(ends[1], shift)], 0)
    return x, xp, lax.concatenate([ends[2], fp, ends[3]], 0)


@fused(static=("extend_left", "extend_right"), shared=True)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any, right: Any, extend_left: bool, extend_right: bool
) -> Any:
    from .indexing.reading import Options
    from .indexing.taking import take_along

    n = xp.shape[0]
    at = lax.clamp(
        np.int32(1), convert(searchsorted(xp, x, "right"), INT32), np.int32(max(n - 1, 1))
    )
    before = lax.sub(at, np.int32(1))
    x0, x1, f0, f1 = (
        take_along(v, i, 0, Options("clip", wrap=False))
        for v in (xp, fp) for i in (before, at)
    )  # fmt: skip
    width = lax.sub(x1, x0)
    flat = lax.le(lax.abs(width), number(width, float(dtypes.finfo(xp.dtype).eps) ** 2))
    slope = lax.div(convert(lax.sub(x, x0), fp.dtype),
                    convert(select(flat, number(width, 1), width), fp.dtype))  # fmt: skip
    out = select(flat, f0, lax.add(f0, lax.mul(slope, lax.sub(f1, f0))))
    first, last = lax.index_in_dim(xp, 0, 0, False), lax.index_in_dim(xp, n - 1, 0, False)
    if not extend_left:
        low = lax.index_in_dim(fp, 0, 0, False) if left is None else left
        out = select(lax.lt(x, first), low, out)
    if not extend_right:
        high = lax.index_in_dim(fp, n - 1, 0, False) if right is None else right
        out = select(lax.gt(x, last), high, out)
    return out
