"""Tangents through collectives: all that move or add values are linear."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive, typeof

from ...primitives import collectives as c
from ...primitives.arithmetic import div_p, mul_p
from ...primitives.collectives import sum_over
from ...primitives.discrete import eq_p
from ...primitives.values import convert_element_type_p
from .kinds import linear, zero

for _p in (
    c.psum_p, c.psum_invariant_p, c.pvary_p, c.pcast_p, c.ppermute_p, c.all_gather_p,
    c.all_gather_invariant_p, c.all_gather_reduced_p, c.all_to_all_p, c.reduce_scatter_p,
):  # fmt: skip
    linear(_p)
zero(c.axis_index_p)


def _extremum(primitive: Primitive) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        """Positions that attain the extremum share its tangent equally."""
        (x,), (t,) = primals, tangents
        out = primitive.bind(x, **params)
        equal = eq_p.bind(x, out)
        axes = params["axes"]
        manual = typeof(x).vma.issuperset(axes)

        def total(x: Any) -> Any:
            return sum_over(x, axes) if manual else c.psum_p.bind(x, **params)

        hit = convert_element_type_p.bind(equal, new_dtype=t.dtype, weak_type=False)
        return out, div_p.bind(total(mul_p.bind(hit, t)), total(hit))

    jvp_rules.set(primitive, rule)


_extremum(c.pmax_p)
_extremum(c.pmin_p)
