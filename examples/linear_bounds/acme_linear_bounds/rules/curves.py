"""Rules of functions of one number, by chords and tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax
from dovetail_ad import jvp
from dovetail_core import Primitive, algebra, lift_call, primitives, typeof

from ..bounds import Affine, Bounds, BoundsCarrier, affine_rules, aval_of
from .derived import Args, Params, uncertain

Function = Callable[[Any], Any]
Line = tuple[Any, Any]
"""Slope and offset of a line, per element."""

BISECTIONS = 8


def full(like: Any, value: float) -> Any:
    """An array like another one."""
    return algebra().full(typeof(like), value)


def through(slope: Any, x: Any, y: Any) -> Line:
    """The line through a point."""
    return slope, lax.sub(y, lax.mul(slope, x))


def tangent(f: Function, x: Any) -> Line:
    """The tangent at ``x``."""
    y, slope = jvp(f, (x,), (full(x, 1),))
    return through(slope, x, y)


def chord(f: Function, low: Any, high: Any) -> Line:
    """The line through both ends; level where they are one."""
    rise, run = lax.sub(f(high), f(low)), lax.sub(high, low)
    level = lax.eq(run, full(run, 0))
    slope = lax.div(rise, lax.select(level, full(run, 1), run))
    return through(lax.select(level, full(run, 0), slope), low, f(low))


def middle(low: Any, high: Any) -> Any:
    """The point between two."""
    return lax.mul(full(low, 0.5), lax.add(low, high))


def convex(f: Function, low: Any, high: Any) -> tuple[Line, Line]:
    """A tangent is below, the chord above."""
    return tangent(f, middle(low, high)), chord(f, low, high)


def concave(f: Function, low: Any, high: Any) -> tuple[Line, Line]:
    """The chord is below, a tangent above."""
    below, above = convex(f, low, high)
    return above, below


def choose(condition: Any, yes: tuple[Line, Line], no: tuple[Line, Line]) -> tuple[Line, Line]:
    """Lines by element."""
    picked = [lax.select(condition, a, b) for x, y in zip(yes, no) for a, b in zip(x, y)]
    return (picked[0], picked[1]), (picked[2], picked[3])


def roof(f: Function, low: Any, high: Any) -> Line:
    """A line above a function that is convex below zero and concave above, on both sides of it.

    It is the tangent at a point above zero that is over ``f(low)``; any such is above, and the
    first one is the best: bisection comes near. If there is none it is the chord.
    """
    at_low = f(low)

    def is_over(x: Any) -> Any:
        slope, offset = tangent(f, x)
        return lax.ge(lax.add(lax.mul(slope, low), offset), at_low)

    def halve(_: Any, ends: Any) -> Any:
        middling = middle(*ends)
        over = is_over(middling)
        return lax.select(over, ends[0], middling), lax.select(over, middling, ends[1])

    _, point = lax.fori_loop(0, BISECTIONS, halve, (full(high, 0), high))
    pairs = zip(tangent(f, point), chord(f, low, high))
    slope, offset = (lax.select(is_over(high), a, b) for a, b in pairs)
    return slope, offset


def s_shaped(f: Function, low: Any, high: Any) -> tuple[Line, Line]:
    """Of a rising function, convex below zero and concave above."""
    mirrored = roof(lambda x: lax.neg(f(lax.neg(x))), lax.neg(high), lax.neg(low))
    mixed = (mirrored[0], lax.neg(mirrored[1])), roof(f, low, high)
    found = choose(lax.ge(low, full(low, 0)), concave(f, low, high), mixed)
    return choose(lax.le(high, full(low, 0)), convex(f, low, high), found)


def flexed(f: Function, low: Any, high: Any) -> tuple[Line, Line]:
    """Of a rising function, concave below zero and convex above: around zero its slope is least
    there, and lines of that slope through the ends are below and above."""
    slope = tangent(f, full(low, 0))[0]
    mixed = through(slope, low, f(low)), through(slope, high, f(high))
    found = choose(lax.ge(low, full(low, 0)), convex(f, low, high), mixed)
    return choose(lax.le(high, full(low, 0)), concave(f, low, high), found)


def wave(f: Function, low: Any, high: Any) -> tuple[Line, Line]:
    """Of a function with a second derivative from -1 to 1: a parabola is farther from its chord."""
    slope, offset = chord(f, low, high)
    run = lax.sub(high, low)
    far = lax.mul(full(run, 0.125), lax.mul(run, run))
    return (slope, lax.sub(offset, far)), (slope, lax.add(offset, far))


def composed(carrier: BoundsCarrier, x: Bounds, lines: tuple[Line, Line], numbers: Any) -> Bounds:
    """Bounds of a function that is between two lines, of a value with bounds."""
    outs: list[Affine] = []
    for sign, (slope, offset) in zip((-1, 1), lines):
        rises = lax.ge(slope, full(slope, 0))
        own = carrier.affine(x, sign).where(rises, carrier.affine(x, -sign))
        steep = algebra().broadcast(slope, carrier.n, len(aval_of(slope).shape))
        outs.append(Affine(lax.mul(steep, own.slope), lax.add(lax.mul(slope, own.offset), offset)))
    return carrier.bounds(*numbers, *outs)


def curve(
    carrier: BoundsCarrier, x: Bounds, f: Function, shape: Callable[..., Any], trend: str
) -> Bounds:
    """Bounds of ``f``, between lines of its shape; ``trend`` says what follows from the ends."""
    low, high = x.low, x.high
    first, last = f(low), f(high)
    if trend == "least at zero":
        least = f(lax.clamp(low, full(low, 0), high))
        numbers = least, algebra().max(first, last)
    elif trend == "waves":
        numbers = full(low, -1), full(low, 1)
    else:
        numbers = (first, last) if trend == "rises" else (last, first)
    return composed(carrier, x, shape(f, low, high), numbers)


def _register(primitive: Primitive, shape: Callable[..., Any], trend: str) -> None:
    @affine_rules.register(primitive)
    def _rule(carrier: BoundsCarrier, args: Args, params: Params) -> Bounds:
        return curve(carrier, args[0], lambda x: primitive.bind(x, **params), shape, trend)


for _names, _shape, _trend in (
    ("exp exp2 expm1", convex, "rises"),
    ("log log1p sqrt", concave, "rises"),
    ("rsqrt", convex, "falls"),
    ("abs square cosh", convex, "least at zero"),
    ("tanh logistic erf atan asinh", s_shaped, "rises"),
    ("sinh", flexed, "rises"),
    ("sin cos", wave, "waves"),
):
    for _name in _names.split():
        _register(primitives()[_name], _shape, _trend)


@affine_rules.register(lax.integer_pow_p)
def _integer_pow(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    y = params["y"]
    if y < 0:
        positive = {**params, "y": -y}
        f = lambda x: lax.div(full(x, 1), lax.integer_pow_p.bind(x, **positive))  # noqa: E731
        return lift_call(carrier, f, args)
    shape, trend = (convex, "least at zero") if y % 2 == 0 else (flexed, "rises")
    return curve(carrier, args[0], lambda x: lax.integer_pow_p.bind(x, **params), shape, trend)


def reciprocal(carrier: BoundsCarrier, y: Bounds) -> Bounds:
    """Convex above zero, concave below; nothing is known of a box that touches zero."""
    f = lambda v: lax.div(full(v, 1), v)  # noqa: E731
    zero = full(y.low, 0)
    positive = lax.gt(y.low, zero)
    lines = choose(positive, convex(f, y.low, y.high), concave(f, y.low, y.high))
    touches = lax.bitwise_not(lax.bitwise_or(positive, lax.lt(y.high, zero)))
    nothing = full(zero, float("nan"))
    numbers = [lax.select(touches, nothing, f(end)) for end in (y.high, y.low)]
    level = (nothing, nothing)
    return composed(carrier, y, choose(touches, (level, level), lines), numbers)


def _extremum(primitive: Primitive, shape: Callable[..., Any]) -> None:
    """The greater (or lesser) of two is convex (concave) in each: y + max(x - y, 0)."""

    @affine_rules.register(primitive)
    def _rule(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
        lifted = uncertain(args)
        if len(lifted) == 1:
            x, other = args[lifted[0]], args[1 - lifted[0]].low
            if aval_of(x.low).shape == aval_of(primitive.bind(x.low, other)).shape:
                return curve(carrier, x, lambda v: primitive.bind(v, other), shape, "rises")
            return NotImplemented
        low = primitive.bind(args[0].low, args[1].low)
        high = primitive.bind(args[0].high, args[1].high)
        around = lift_call(
            carrier, lambda x, y: lax.add(y, primitive.bind(lax.sub(x, y), full(x, 0))), args
        )
        return carrier.bounds(low, high, around.below, around.above)


_extremum(lax.max_p, convex)
_extremum(lax.min_p, concave)


@affine_rules.register(lax.clamp_p)
def _clamp(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    return lift_call(carrier, lambda a, x, b: lax.min_p.bind(lax.max_p.bind(x, a), b), args)
