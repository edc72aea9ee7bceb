"""Rules of contractions and convolutions: sums of products, split by the signs of the factors.

With x = x⁺ + x⁻ (the parts above and below zero) a product is x⁺y⁺ + x⁻y⁻ + x⁺y⁻ + x⁻y⁺, and each
term is monotone in both parts. So each bound is a sum of four contractions of parts of bounds. They
are the best bounds where an operand is known or has no bounds of both signs; else they are at most
twice as wide.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive

from ..bounds import Bounds
from .kinds import Args, Params, constant, dtype_of, rule


def _parts(x: Bounds) -> tuple[Bounds, Bounds]:
    """Bounds of the part above zero and of the part below."""
    above, below = (
        [primitive.bind(end, constant(0, end)) for end in x] for primitive in (lax.max_p, lax.min_p)
    )
    return (above[0], above[1]), (below[0], below[1])


def _bilinear(primitive: Primitive) -> None:
    @rule(primitive)
    def _rule(carrier: Any, args: Args, params: Params) -> Bounds:
        x, y = args
        if dtype_of(x[0]).kind == "b":  # whether any two are both true
            return primitive.bind(x[0], y[0], **params), primitive.bind(x[1], y[1], **params)

        def total(*pairs: tuple[Any, Any]) -> Any:
            return reduce(lax.add_p.bind, [primitive.bind(a, b, **params) for a, b in pairs])

        if y[0] is y[1]:
            (_, up), (down, _) = _parts(y)
            return total((x[0], up), (x[1], down)), total((x[1], up), (x[0], down))
        if x[0] is x[1]:
            (_, up), (down, _) = _parts(x)
            return total((up, y[0]), (down, y[1])), total((up, y[1]), (down, y[0]))
        (xu, xd), (yu, yd) = _parts(x), _parts(y)
        low = total((xu[0], yu[0]), (xd[1], yd[1]), (xu[1], yd[0]), (xd[0], yu[1]))
        return low, total((xu[1], yu[1]), (xd[0], yd[0]), (xu[0], yd[1]), (xd[1], yu[0]))


_bilinear(lax.dot_general_p)
_bilinear(lax.conv_general_dilated_p)
