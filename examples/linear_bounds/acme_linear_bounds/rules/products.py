"""Rules of products: with a known factor by its signs, else by McCormick's planes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import Primitive, algebra

from ..bounds import Affine, Bounds, BoundsCarrier, affine_rules
from .curves import convex, curve, full, reciprocal
from .derived import Args, Params, is_real, uncertain


def _times(carrier: BoundsCarrier, multiply: Any, x: Bounds, factor: Any) -> Bounds:
    """``multiply(x, factor)``, of a known factor: each bound is one of ``x`` where that is positive
    and the other one where it is negative."""
    parts = lax.max(factor, full(factor, 0)), lax.min(factor, full(factor, 0))

    def total(ends: Sequence[Any], mapped: bool = False) -> Any:
        product = multiply
        if mapped:
            product = vmap(multiply, in_axes=(-1, None), out_axes=-1)
        return lax.add(product(ends[0], parts[0]), product(ends[1], parts[1]))

    lines = [carrier.affine(x, sign) for sign in (-1, 1)]
    found = [
        Affine(total([a.slope for a in pair], True), total([a.offset for a in pair]))
        for pair in (lines, lines[::-1])
    ]
    return carrier.bounds(total(x[:2]), total(x[1::-1]), *found)


def _plane(carrier: BoundsCarrier, multiply: Any, x: Bounds, y: Bounds, at: Any) -> Bounds:
    """``a y + x b - a b``: below the product where (a, b) is one of the corners low-low and
    high-high, above it for the other two."""
    a, b = at
    first = _times(carrier, lambda y, a: multiply(a, y), y, a)
    second = _times(carrier, multiply, x, b)
    corner = multiply(a, b)
    lines = [
        Affine(lax.add(p.slope, q.slope), lax.sub(lax.add(p.offset, q.offset), corner))
        for p, q in ((first.below, second.below), (first.above, second.above))
        if p is not None and q is not None
    ]
    return Bounds(corner, corner, *lines)


def _bilinear(primitive: Primitive) -> None:
    @affine_rules.register(primitive)
    def _rule(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
        def multiply(x: Any, y: Any) -> Any:
            return primitive.bind(x, y, **params)

        lifted, (x, y) = uncertain(args), args
        if not all(is_real(args[i]) for i in lifted):
            return NotImplemented
        if len(lifted) == 1:
            if lifted == [0]:
                return _times(carrier, multiply, x, y.low)
            return _times(carrier, lambda y, x: multiply(x, y), y, x.low)
        if x is y and primitive is lax.mul_p:
            return curve(carrier, x, lax.square, convex, "least at zero")
        corners = [[_plane(carrier, multiply, x, y, (a, b)) for b in y[:2]] for a in x[:2]]
        below = _better(corners[0][0].below, corners[1][1].below, -1)
        above = _better(corners[0][1].above, corners[1][0].above, 1)
        return carrier.bounds(*_numbers(primitive, multiply, x, y), below, above)


def _better(first: Any, second: Any, sign: int) -> Affine:
    """Of two affine functions, by element, the one that bounds more narrowly over the box."""
    order = lax.ge if sign < 0 else lax.le
    return first.where(order(first.reach(sign), second.reach(sign)), second)


def _numbers(primitive: Primitive, multiply: Any, x: Bounds, y: Bounds) -> tuple[Any, Any]:
    """Bounds by numbers alone."""
    if primitive is lax.mul_p:
        products = [multiply(a, b) for a in x[:2] for b in y[:2]]
        low = high = products[0]
        for p in products[1:]:
            low, high = algebra().min(low, p), algebra().max(high, p)
        return low, high
    (a, r), (b, s) = _ball(x), _ball(y)
    size = lax.add(lax.add(multiply(lax.abs(a), s), multiply(r, lax.abs(b))), multiply(r, s))
    return lax.sub(multiply(a, b), size), lax.add(multiply(a, b), size)


def _ball(x: Bounds) -> tuple[Any, Any]:
    """Middle and radius."""
    half = full(x.low, 0.5)
    return lax.mul(half, lax.add(x.low, x.high)), lax.mul(half, lax.sub(x.high, x.low))


for _p in (lax.mul_p, lax.dot_general_p, lax.conv_general_dilated_p):
    _bilinear(_p)


@affine_rules.register(lax.div_p)
def _div(carrier: BoundsCarrier, args: Args, params: Params) -> Any:
    x, y = args
    if not all(is_real(args[i]) for i in uncertain(args)):
        return NotImplemented
    if y.known:
        return _times(carrier, lax.mul, x, lax.div(full(y.low, 1), y.low))
    return affine_rules[lax.mul_p](carrier, [x, reciprocal(carrier, y)], params)
