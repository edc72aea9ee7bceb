"""The law of the rule table: what an operation computes inside a box is within its bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import MissingRule, ShapedArray, is_inexact, registry, stage_closed
from dovetail_testing import Sample, law, precision, skip

from .bounds import linear_bounds

POINTS = 6
ROUNDING = 64  # in units of the last place, of the largest number: no bound is rounded outwards


def _real(aval: Any) -> bool:
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype) and aval.dtype.kind != "c"


def _speaks_of(sample: Sample) -> bool:
    avals: tuple[Any, ...] = sample.avals
    return any(_real(aval) and aval.size for aval in avals)


@law("bounds", without=("extreme", "random", "empty", "open-ended"), applies=_speaks_of)
def bounds_law(sample: Sample) -> None:
    """For boxes, narrow and wide, around the first real operand alone and around all."""
    avals: tuple[Any, ...] = sample.avals
    lifted = [i for i, aval in enumerate(avals) if _real(aval)]
    for chosen in [lifted[:1], lifted] if len(lifted) > 1 else [lifted]:
        for size in (0.0, 0.05, 1.0):
            _try(sample, chosen, size)


def _try(sample: Sample, chosen: list[int], size: float) -> None:
    avals: list[Any] = [sample.avals[i].strong() for i in chosen]
    rng = np.random.default_rng([len(chosen), int(size * 100)])
    centers = [np.asarray(sample.args[i], np.float64) for i in chosen]
    radii = [size * (0.1 + np.abs(x)) for x in centers]
    lows, highs = (
        [(x + s * r).astype(aval.dtype) for x, r, aval in zip(centers, radii, avals)]
        for s in (-1, 1)
    )

    def f(*some: Any) -> list[Any]:
        return sample.flat(*(dict(enumerate(sample.args)) | dict(zip(chosen, some))).values())

    def bounds(*both: Any) -> list[Any]:
        n = len(chosen)
        low, high = linear_bounds(lambda xs: f(*xs))(list(both[:n]), list(both[n:]))
        return [*low, *high]

    try:
        program = stage_closed(bounds, [*avals, *avals], "bounds")
    except MissingRule as e:
        skip(f"there is no rule: {e}")
    plain = stage_closed(f, avals, "plain")
    found = _run(program, [*lows, *highs])
    results = len(found) // 2
    unit = max(float(precision(x.dtype)) for x in [*lows, *found] if is_inexact(x.dtype))
    for k in range(POINTS):
        t = [np.full(x.shape, k) if k < 2 else rng.uniform(0, 1, x.shape) for x in centers]
        point = [
            np.clip(a + u * (b.astype(np.float64) - a), a, b).astype(a.dtype)
            for a, b, u in zip(lows, highs, t)
        ]
        for y, low, high in zip(_run(plain, point), found[:results], found[results:]):
            _check(y, low, high, unit, f"operands {chosen}, size {size}")


def _run(program: Any, args: list[Any]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(y) for y in registry().backend("reference").run(program, args)]


def _check(y: Any, low: Any, high: Any, unit: float, what: str) -> None:
    slack = 0.0
    if is_inexact(y.dtype):
        finite = [np.abs(z[np.isfinite(z)].astype(np.float64)) for z in (y, low, high)]
        slack = ROUNDING * unit * max(1.0, *(z.max(initial=0.0) for z in finite))
        y, low, high = (z.astype(np.float64) for z in (y, low, high))
    inside = (low - slack <= y) & (y <= high + slack) if slack else (low <= y) & (y <= high)
    inside |= (y != y) | (low != low) | (high != high)
    assert inside.all(), f"{y[~inside]} is not within {low[~inside]} and {high[~inside]} ({what})"
