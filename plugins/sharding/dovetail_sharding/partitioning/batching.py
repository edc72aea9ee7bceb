"""``vmap`` of functions that say how they are divided: their parts are mapped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules, batch_values
from dovetail_core import ClosedJaxpr, algebra, eval_jaxpr, stage_closed, typeof

from .primitive import custom_partitioning_p


@batch_rules.register(custom_partitioning_p)
def _custom_partitioning(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, call: ClosedJaxpr, mapped: Any,
    **params: Any,
) -> tuple[Any, Any]:  # fmt: skip
    front = [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    flags = tuple([d is not None for d in dims])

    def over(*xs: Any) -> list[Any]:
        def element(*each: Any) -> Any:
            return eval_jaxpr(call.jaxpr, call.consts, *each)

        result = batch_values(element, axis, xs, [0 if f else None for f in flags])
        return [
            algebra().broadcast(x, axis.size, 0) if d is None else algebra().move_axis(x, d, 0)
            for x, d in result
        ]

    program = stage_closed(over, [typeof(x) for x in front], call.jaxpr.name)
    made = (True,) * len(program.out_avals)
    outs = custom_partitioning_p.bind(
        *front, call=program, mapped=(*mapped, (flags, made)), **params
    )
    return outs, [0] * len(outs)
