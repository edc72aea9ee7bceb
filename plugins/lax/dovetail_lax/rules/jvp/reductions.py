"""Derivatives of reductions.

Those of products and of reductions by a program follow from their decompositions, trees of products
and of the program: they are right where a factor is zero, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive

from ...primitives.arithmetic import div_p, mul_p
from ...primitives.comparison import eq_p
from ...primitives.conversion import convert_element_type_p
from ...primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from ...primitives.shape import broadcast_in_dim_p
from .decomposed import by_decomposition
from .kinds import linear, zero

linear(reduce_sum_p)
by_decomposition(reduce_prod_p)
by_decomposition(reduce_p)
for _primitive in (reduce_and_p, reduce_or_p, reduce_xor_p, argmax_p, argmin_p):
    zero(_primitive)


def _extremum(primitive: Primitive) -> None:
    """The mean of the tangents of all elements that are equal to the extremum."""

    def rule(
        primals: Sequence[Any], tangents: Sequence[Any], *, axes: tuple[int, ...]
    ) -> tuple[Any, Any]:
        (x,), (t,) = primals, tangents
        answer = primitive.bind(x, axes=axes)
        if not axes:
            return answer, t
        shape: tuple[int, ...] = x.shape
        kept = tuple([i for i in range(len(shape)) if i not in axes])
        wide = broadcast_in_dim_p.bind(answer, shape=shape, broadcast_dimensions=kept)
        at = convert_element_type_p.bind(eq_p.bind(x, wide), new_dtype=x.dtype, weak_type=False)
        count = reduce_sum_p.bind(at, axes=axes)
        total = reduce_sum_p.bind(mul_p.bind(t, at), axes=axes)
        return answer, div_p.bind(total, count)

    jvp_rules.set(primitive, rule)


_extremum(reduce_max_p)
_extremum(reduce_min_p)
