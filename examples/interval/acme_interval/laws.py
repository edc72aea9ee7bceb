"""The law of the rule table: what an operation computes inside a box is within its bounds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import (
    MissingRule,
    ShapedArray,
    is_inexact,
    lift_call,
    lift_function,
    registry,
    stage_closed,
    typeof,
)
from dovetail_testing import Sample, law, precision, skip

from .bounds import IntervalCarrier, bounds_rules
from .order import limits

Array = np.ndarray[Any, Any]
POINTS = 6
ROUNDING = 32  # in units of the last place: no bound is rounded outwards
CARRIER = IntervalCarrier(patience=100)


@law("bounds", without=("random",))
def bounds_law(sample: Sample) -> None:
    """For boxes around each operand alone and around all, narrow and wide."""
    if not all(map(_has_bounds, _results(sample))):
        skip("its results have no order")
    lifted = [i for i, aval in enumerate(sample.avals) if _has_bounds(aval)]
    # Of integers that wrap around, below zero or beyond their limits, no bound speaks.
    extreme = "extreme" in sample.tags
    if extreme:
        lifted = [i for i in lifted if _kind(sample.avals[i]) not in "iu"]
    point = extreme or "u" in map(_kind, sample.avals)
    if not lifted:
        skip("no operand has bounds")
    one_at_a_time = [{i} for i in lifted] if len(lifted) > 1 else []
    for chosen in (*one_at_a_time, set(lifted)):
        for size in (0.0,) if point else (0.0, 0.05, 1.0):
            _try(sample, chosen, size)


def _kind(aval: Any) -> str:
    dtype = aval.dtype if isinstance(aval, ShapedArray) else None
    return getattr(dtype, "kind", "c")  # keys and the like have no order either


def _has_bounds(aval: Any) -> bool:
    return _kind(aval) != "c"


def _results(sample: Sample) -> tuple[Any, ...]:
    return sample.infer().avals


def _try(sample: Sample, chosen: set[int], size: float) -> None:
    rng = np.random.default_rng([len(chosen), int(size * 100)])
    boxes = [_box(x, size if i in chosen else 0.0) for i, x in enumerate(sample.args)]
    ends = [x for i, box in enumerate(boxes) for x in (box if i in chosen else box[:1])]
    bounds = _evaluate(_lifted(sample, chosen), ends)
    plain = stage_closed(lambda *xs: sample.flat(*xs), sample.avals, "plain")
    for point in _points(boxes, rng):
        for k, y in enumerate(_evaluate(plain, point)):
            _check(y, bounds[2 * k], bounds[2 * k + 1], f"box {chosen} of size {size}")


def _lifted(sample: Sample, chosen: set[int]) -> Any:
    """The program of the bounds, whose results have the types of the operation's."""
    outs = _results(sample)
    structures = [i in chosen for i in range(len(sample.args))]
    try:
        program, _ = lift_function(
            CARRIER,
            lambda *values: lift_call(CARRIER, sample.flat, values),
            sample.avals,
            structures,
            [True] * len(outs),
            "bounds",
        )
    except MissingRule:
        skip("there is no rule")
    expected, found = [a for aval in outs for a in (aval, aval)], program.out_avals
    if bounds_rules.origins[sample.primitive].kind == "derived":  # then others typed the result
        expected, found = ([a.strong() for a in types] for types in (expected, found))
    assert found == expected, f"types of the bounds: {found}, not {expected}"
    return program


def _evaluate(program: Any, args: list[Any]) -> list[Array]:
    return [np.asarray(y) for y in registry().backend("reference").run(program, args)]


def _box(x: Any, size: float) -> tuple[Array, Array]:
    """Bounds around ``x``; of integers and booleans at most one larger."""
    aval: Any = typeof(x)
    middle = np.asarray(x, aval.dtype)
    if size == 0 or aval.dtype.kind == "c":
        return middle, middle
    if aval.dtype.kind == "b":
        return middle & (np.arange(middle.size).reshape(middle.shape) % 3 > 0), middle
    if not is_inexact(aval.dtype):
        room = middle < limits(aval.dtype)[1]
        return middle, (middle + (room & (size >= 1))).astype(aval.dtype)
    radius = (size * (0.1 + np.abs(middle.astype(np.float64)))).astype(aval.dtype)
    return (middle - radius).astype(aval.dtype), (middle + radius).astype(aval.dtype)


def _points(boxes: list[tuple[Array, Array]], rng: Any) -> Iterator[list[Array]]:
    yield [low for low, _ in boxes]
    if all(low is high for low, high in boxes):
        return
    yield [high for _, high in boxes]
    for k in range(POINTS):
        point: list[Array] = []
        for low, high in boxes:
            if k % 2 or not is_inexact(low.dtype) or low.dtype.kind == "c":
                inside = np.where(rng.integers(0, 2, low.shape) > 0, high, low)
            else:
                t = rng.uniform(0, 1, low.shape)
                wide = (low.astype(np.float64), high.astype(np.float64))
                inside = np.clip(wide[0] + t * (wide[1] - wide[0]), *wide).astype(low.dtype)
            point.append(inside)
        yield point


def _check(y: Array, low: Array, high: Array, what: str) -> None:
    if not is_inexact(y.dtype):
        inside = (low <= y) & (y <= high)
    else:
        unit = precision(y.dtype)
        y, low, high = (z.astype(np.float64) for z in (y, low, high))
        finite = np.abs(y)[np.isfinite(y)]
        slack = ROUNDING * unit * max(1.0, finite.max(initial=0.0))
        inside = ((low <= y) | (low - slack <= y)) & ((y <= high) | (y <= high + slack))
        inside |= np.isnan(y) | np.isnan(low) | np.isnan(high)
    assert inside.all(), f"{y[~inside]} is not within {low[~inside]} and {high[~inside]} ({what})"
