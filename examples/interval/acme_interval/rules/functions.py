"""Rules of functions that rise and fall: sines, hyperbolic cosines, angles, gamma functions."""

from __future__ import annotations

from math import pi, tau
from typing import Any

import ml_dtypes
import numpy as np

import dovetail_lax as lax

from ..bounds import Bounds
from .kinds import (
    Args,
    Params,
    anything_where,
    constant,
    dtype_of,
    has_zero,
    magnitudes,
    rule,
    span,
    where,
)


def _meets(x: Bounds, period: float, phase: float) -> Any:
    """Whether some ``(n + phase) * period``, with ``n`` an integer, may be between the bounds.

    In periods, the bounds are rounded by about eps times their size; so that no such number is
    overlooked, they are moved apart by more than that.
    """
    low, high = (lax.mul_p.bind(end, constant(1 / period, end)) for end in x)
    info: Any = ml_dtypes.finfo(dtype_of(low))
    size = lax.max_p.bind(lax.abs_p.bind(low), lax.abs_p.bind(high))
    slack = lax.mul_p.bind(size, constant(4 * float(info.eps), size))
    shift = constant(phase, low)
    low = lax.sub_p.bind(lax.sub_p.bind(low, slack), shift)
    high = lax.sub_p.bind(lax.add_p.bind(high, slack), shift)
    return lax.ge_p.bind(lax.floor_p.bind(high), low)


def _wave(primitive: Any, top: float) -> None:
    """The rule of a sine: its maxima are at ``top`` periods, its minima half a period away."""

    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        low, high = span([primitive.bind(end, **params) for end in args[0]])
        low = where(_meets(args[0], tau, top + 0.5), constant(-1, low), low)
        return low, where(_meets(args[0], tau, top), constant(1, high), high)


_wave(lax.sin_p, 0.25)
_wave(lax.cos_p, 0.0)


@rule(lax.tan_p)
def _tan(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = (lax.tan_p.bind(end, **params) for end in args[0])
    return anything_where(_meets(args[0], pi, 0.5), (low, high))


@rule(lax.cosh_p)
def _cosh(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = magnitudes(args[0])
    return lax.cosh_p.bind(low), lax.cosh_p.bind(high)


@rule(lax.bessel_i0e_p)
def _bessel_i0e(carrier: Any, args: Args, params: Params) -> Bounds:
    low, high = magnitudes(args[0])
    return lax.bessel_i0e_p.bind(high), lax.bessel_i0e_p.bind(low)


@rule(lax.atan2_p)
def _atan2(carrier: Any, args: Args, params: Params) -> Bounds:
    # A box that does not meet the cut (x <= 0, y = 0 of either sign) is seen from the origin
    # between two of its corners.
    y, x = args
    found = span([lax.atan2_p.bind(b, a) for a in x for b in y])
    behind = lax.le_p.bind(x[0], constant(0, x[0]))
    cut = lax.and_p.bind(behind, has_zero(y))
    low, high = found
    # Rounded up, so that what rounds to more than π is covered as well.
    most = float(np.nextafter(np.array(pi, dtype_of(low)), np.array(4, dtype_of(low))))
    return where(cut, constant(-most, low), low), where(cut, constant(most, high), high)


@rule(lax.lgamma_p)
def _lgamma(carrier: Any, args: Args, params: Params) -> Bounds:
    # Convex on the positive numbers, with its least value at 1.4616...; with poles on the others.
    x = args[0]
    least, place = -0.12148629053584961, 1.4616321449683623
    low, high = span([lax.lgamma_p.bind(end) for end in x])
    middle = constant(place, low)
    around = lax.and_p.bind(lax.le_p.bind(x[0], middle), lax.ge_p.bind(x[1], middle))
    low = where(around, constant(least, low), low)
    return anything_where(lax.le_p.bind(x[0], constant(0, x[0])), (low, high))


@rule(lax.digamma_p)
def _digamma(carrier: Any, args: Args, params: Params) -> Bounds:
    # Rises on the positive numbers; has poles on the others.
    low, high = (lax.digamma_p.bind(end) for end in args[0])
    poles = lax.le_p.bind(args[0][0], constant(0, args[0][0]))
    return anything_where(poles, (low, high))
