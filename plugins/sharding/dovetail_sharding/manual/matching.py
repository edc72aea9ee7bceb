"""``auto_pcast``: with that option off, operands of an operation must vary along the same axes."""

from __future__ import annotations

from typing import Any

from dovetail_base.source import describe
from dovetail_core import ClosedJaxpr, programs


def check_matching(name: str, program: ClosedJaxpr) -> None:
    """Raise where operands of one operation differ in the axes over which they vary.

    Raises:
        ValueError: names the operation, its line and the operands' types.
    """
    for part in programs.walk_programs(program):
        for eqn in programs.open_program(part).eqns:
            traits = eqn.primitive.traits
            if eqn.primitive.regions is not None or traits.varies is not None:
                continue
            avals: list[Any] = [v.aval for v in eqn.invars]
            if len({a.vma for a in avals}) > 1:
                types = ", ".join(a.str_short() for a in avals)
                raise ValueError(
                    f"shard_map of {name}: operands of {eqn.primitive.name} vary over different "
                    f"axes{describe(eqn.source)}: {types}. The option auto_pcast is off: cast "
                    "them (lax.pcast(x, axes, to='varying')), or switch it on."
                )
