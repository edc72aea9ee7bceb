"""Rows under a transformation that has no rule of its own for them: their rules are lifted, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    lift_call,
    lift_program,
)
from dovetail_core.types.algebra import algebra

from .flat import FlatRules, pick, spread
from .zeros import has_tangent


class Lifting:
    """One way in which operands and results are lifted: their structures, and how many arrays."""

    def __init__(
        self, carrier: Any, in_avals: Sequence[Any], ins: Sequence[Any], out_avals: Sequence[Any],
        outs: Sequence[Any],
    ) -> None:  # fmt: skip
        self.carrier = carrier
        self.ins = ins
        self.outs = outs
        self.in_widths = [len(carrier.types(a, s)) for a, s in zip(in_avals, ins)]
        self.out_widths = [len(carrier.types(a, s)) for a, s in zip(out_avals, outs)]

    def values(self, arrays: Sequence[Any], depth: int = 0) -> list[Any]:
        """Lifted operands, from their arrays."""
        found: list[Any] = []
        at = 0
        for s, n in zip(self.ins, self.in_widths):
            found.append(self.carrier.value(arrays[at : at + n], s, depth))
            at += n
        return found

    def arrays(
        self, values: Sequence[Any], structures: Sequence[Any], depth: int = 0
    ) -> list[list[Any]]:
        """The arrays of lifted values at ``structures``, one list per value."""
        return [list(self.carrier.arrays(v, s, depth)) for v, s in zip(values, structures)]

    def single(self, value: Any, structure: Any) -> Any:
        """The one array of a lifted value, None for None."""
        return None if value is None else self.carrier.arrays(value, structure, 0)[0]

    def lift_single(self, array: Any, structure: Any) -> Any:
        """The lifted value of one array, None for None."""
        return None if array is None else self.carrier.value([array], structure, 0)

    def call(self, f: Callable[..., Any], values: Sequence[Any]) -> list[Any]:
        """``f`` on lifted values; places with None go in and come out as they are."""
        live = [v is not None for v in values]
        holes: list[bool] = []

        def on_live(*xs: Any) -> list[Any]:
            outs = f(*spread(xs, live))
            holes[:] = [y is not None for y in outs]
            return [y for y in outs if y is not None]

        return spread(lift_call(self.carrier, on_live, pick(values, live)), holes)


def lift_row(
    row: Primitive, rules: FlatRules, carrier: Any, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    """Apply a row to lifted operands: a row around the lifted body, with lifted rules."""
    from .lifted import lifted_row

    program: ClosedJaxpr = params["program"]
    ins = tuple(carrier.structure(a, 0) for a in args)
    outs = lift_program(carrier, program, ins)[1]
    if rules.differentiates and carrier.has_instances:
        # A derivative rule may make more of a result depend on the operands than the body does.
        top = fold(carrier.join_structures, ins)
        outs = tuple(
            carrier.join_structures(s, top) if has_tangent(a) else s
            for s, a in zip(outs, program.out_avals)
        )
    body = lift_program(carrier, program, ins, outs)[0]
    lifting = Lifting(carrier, program.in_avals, ins, program.out_avals, outs)
    key = "lifted", type(carrier), carrier.key, ins, outs
    lifted = rules.derived(program, key, lambda: lifted_row(rules, lifting))
    arrays = lifting.arrays(args, ins)
    results = lifted.bind(*[x for xs in arrays for x in xs], program=body)
    found: list[Any] = []
    at = 0
    for s, n in zip(outs, lifting.out_widths):
        found.append(carrier.value(results[at : at + n], s, 0))
        at += n
    return found


def to_front(axis: Any, x: Any, dim: int | None) -> Any:
    """``x`` with its mapped axis in front, made if it has none."""
    if dim is None:
        return algebra().broadcast(x, axis.size, 0)
    return x if dim == 0 else algebra().move_axis(x, dim, 0)
