"""Lowering rules that are made: of decompositions, and of operations element by element."""

from __future__ import annotations

from typing import Any

from dovetail_base.source import run_at
from dovetail_core import (
    MissingRule,
    Primitive,
    stage_closed,
)
from dovetail_core.rules.tables import within
from dovetail_core.types.avals import undivided

from ..tables import StablehloRule, stablehlo_rules
from .builder import Builder
from .emitter import Val


@stablehlo_rules.deriver
def _derive(primitive: Primitive) -> StablehloRule | None:
    """Lower an operation by lowering its decomposition in place."""
    if primitive.decomposition is None:
        return None
    decomposition = primitive.decomposition

    def rule(b: Builder, *operands: Val, **params: Any) -> Any:
        def body(*xs: Any) -> list[Any]:
            out = decomposition(*xs, **params)
            return list(out) if primitive.multiple_results else [out]

        def inlined() -> Any:
            program = stage_closed(body, [undivided(x.aval) for x in operands], primitive.name)
            return b.inline(program, operands)

        try:
            results = run_at(b.source, inlined)
        except MissingRule as e:
            raise within(e, primitive) from None
        return results if primitive.multiple_results else results[0]

    return rule


def elementwise(op: str, attrs: str = "") -> StablehloRule:
    """The rule of an elementwise operation; scalar operands are broadcast to the result's shape."""

    def rule(b: Builder, *operands: Val, **params: Any) -> Val:
        out = b.outs[0]
        shape = out.shape
        args = [x if x.aval.shape == shape else b.broadcast(x, shape, ()) for x in operands]
        return b.op(op, args, out, attrs)

    return rule
