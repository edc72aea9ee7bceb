"""Piecewise linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused
from ..operands import Array, ArrayLike
from ..operations import number, select
from ..promotion import INT32, convert, promote
from ..searching.finding import searchsorted


@reword_errors
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
    from ..ufuncs.arithmetic import REMAINDER

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
    from ..indexing.reading import Options
    from ..indexing.taking import take_along

    n = xp.shape[0]
    at = lax.clamp(
        np.int32(1), convert(searchsorted(xp, x, "right"), INT32), np.int32(max(n - 1, 1))
    )
    before = lax.sub(at, np.int32(1))
    x0, x1, f0, f1 = (
        take_along(v, i, 0, Options("clip", wrap=False))
        for v in (xp, fp) for i in (before, at)
    )  # fmt: skip
    out = _between(x, x0, x1, f0, f1)
    first, last = lax.index_in_dim(xp, 0, 0, False), lax.index_in_dim(xp, n - 1, 0, False)
    if not extend_left:
        low = lax.index_in_dim(fp, 0, 0, False) if left is None else left
        out = select(lax.lt(x, first), low, out)
    if not extend_right:
        high = lax.index_in_dim(fp, n - 1, 0, False) if right is None else right
        out = select(lax.gt(x, last), high, out)
    return out


def _between(x: Any, x0: Any, x1: Any, f0: Any, f1: Any) -> Any:
    """The line through ``(x0, f0)`` and ``(x1, f1)`` at ``x``; ``f0`` where ``x0 == x1``."""
    from ..ufuncs.comparisons import isfinite

    usual = lax.bitwise_and(
        lax.bitwise_and(lax.is_finite(x0), lax.is_finite(x1)),
        lax.bitwise_and(isfinite(f0), isfinite(f1)),
    )
    # Values that are not selected are computed from finite numbers: their derivatives are not NaN.
    none, one = number(x0, 0), number(x0, 1)
    a, b = select(usual, x0, none), select(usual, x1, one)
    low, high = (select(usual, f, number(f, 0)) for f in (f0, f1))
    # Numbers are halved where the difference of finite ones is not finite.
    near = select(lax.is_finite(lax.sub(b, a)), one, number(a, 0.5))
    a, b, at = lax.mul(a, near), lax.mul(b, near), lax.mul(x, near)
    width = lax.sub(b, a)
    flat = lax.le(lax.abs(width), number(width, float(dtypes.finfo(x0.dtype).eps) ** 2))
    share = lax.div(convert(lax.sub(at, a), low.dtype),
                    convert(select(flat, one, width), low.dtype))  # fmt: skip
    fits = isfinite(lax.sub(high, low))
    small = select(fits, number(low, 1), number(low, 0.5))
    low, high = lax.mul(low, small), lax.mul(high, small)
    line = lax.add(low, lax.mul(share, lax.sub(high, low)))
    line = lax.mul(select(flat, low, line), select(fits, number(low, 1), number(low, 2)))
    return select(usual, line, _at_infinite_ends(x, x0, x1, f0, f1))


def _at_infinite_ends(x: Any, x0: Any, x1: Any, f0: Any, f1: Any) -> Any:
    """The limit of lines with infinite ends.

    That is the value at an end itself, the infinite one of two values, the value at the finite one
    of two points; NaN if there is no limit.
    """
    from ..ufuncs.comparisons import isfinite

    nan = number(f0, float("nan"))
    finite = [lax.is_finite(v) for v in (x0, x1)]
    value = [isfinite(f) for f in (f0, f1)]
    rising = select(value[0], f1, select(value[1], f0, nan))  # one value is infinite, or NaN
    level = select(finite[0], f0, select(finite[1], f1, nan))  # one point is infinite, or NaN
    level = select(lax.bitwise_and(*value), level, nan)
    out = select(lax.bitwise_and(*finite), rising, level)
    out = select(lax.eq(f0, f1), f0, out)
    out = select(lax.eq(x, x1), f1, select(lax.eq(x, x0), f0, out))
    undefined = lax.bitwise_or(lax.ne(x, x), lax.bitwise_or(lax.ne(x0, x0), lax.ne(x1, x1)))
    return select(undefined, nan, out)
