"""Rules of ``acme.bounds`` for primitives of ``lax``, which do not know of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive

from .bounds import Bounds, bounds_rules


def monotone(primitive: Primitive, directions: str) -> None:
    """Add the rule of a primitive that rises (+) or falls (-) with each operand."""

    def rule(carrier: Any, args: Sequence[Bounds], params: Any) -> Bounds:
        low = [a[d == "-"] for a, d in zip(args, directions)]
        high = [a[d == "+"] for a, d in zip(args, directions)]
        return primitive.bind(*low, **params), primitive.bind(*high, **params)

    bounds_rules.set(primitive, rule)


monotone(lax.add_p, "++")
monotone(lax.sub_p, "+-")
monotone(lax.neg_p, "-")
monotone(lax.exp_p, "+")
monotone(lax.pad_p, "++")
monotone(lax.reduce_sum_p, "+")
monotone(lax.convert_element_type_p, "+")
monotone(lax.gt_p, "+-")


@bounds_rules.register(lax.mul_p)
def _mul(carrier: Any, args: Sequence[Bounds], params: Any) -> Bounds:
    (a, b), (c, d) = args
    products = [lax.mul_p.bind(x, y, **params) for x in (a, b) for y in (c, d)]
    low = high = products[0]
    for p in products[1:]:
        low, high = lax.min_p.bind(low, p), lax.max_p.bind(high, p)
    return low, high
