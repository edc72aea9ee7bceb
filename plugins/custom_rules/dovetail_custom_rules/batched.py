"""Rows whose author said how they are batched, beside other rules: those are batched, too."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_batching import carrier_of
from dovetail_core import ClosedJaxpr, Primitive, stage_closed, typeof

from .flat import FlatRules
from .lifted import lifted_row
from .lifting import Lifting, to_front


def batch_rule(rules: FlatRules) -> Callable[..., Any]:
    """The rule of ``batching.batch`` of a row whose author said how to batch it.

    Where there are other rules, too, the batched function is a row with those, batched.
    """
    batch: Any = rules.batch
    alone = rules.reduce is None and not rules.differentiates

    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
    ) -> tuple[Any, Any]:
        args = [x if d is None else to_front(axis, x, d) for x, d in zip(args, dims)]
        dims = [None if d is None else 0 for d in dims]
        program = params.get("program")
        if alone or program is None:
            return batch(axis, args, dims)
        row, body = rules.derived(
            program,
            ("batched", axis, tuple(dims)),
            lambda: _batched(rules, program, axis, args, dims),
        )
        return row.bind(*args, program=body), [0] * len(program.out_avals)

    return rule


def _batched(
    rules: FlatRules, program: ClosedJaxpr, axis: Any, args: Sequence[Any], dims: Sequence[Any]
) -> tuple[Primitive, ClosedJaxpr]:
    carrier = carrier_of(axis)
    ins = tuple(d is not None for d in dims)
    outs = (True,) * len(program.out_avals)
    lifting = Lifting(carrier, program.in_avals, ins, program.out_avals, outs)

    def run(*xs: Any) -> list[Any]:
        assert rules.batch is not None
        found, out_dims = rules.batch(axis, xs, dims)
        return [to_front(axis, x, d) for x, d in zip(found, out_dims)]

    body = stage_closed(run, [typeof(x) for x in args], f"the vmap rule of {rules.name}")
    body = ClosedJaxpr(body.jaxpr.replace(name=rules.name), body.consts)
    return lifted_row(rules, lifting, batch=False), body
