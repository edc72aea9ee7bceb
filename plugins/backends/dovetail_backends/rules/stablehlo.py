"""Lowering to StableHLO: rules derived from decompositions, elementwise operations, placement."""

from __future__ import annotations

from typing import Any

from dovetail_base.source import run_at
from dovetail_core import MissingRule, Primitive, stage_closed

from ..pjrt.builder import Builder
from ..pjrt.emitter import Val
from ..placement import device_put_p, sharding_constraint_p
from ..tables import StablehloRule, stablehlo_rules
from ..transfer import sharding_for


@stablehlo_rules.deriver
def _derive(primitive: Primitive) -> StablehloRule | None:
    """The rule that lowers an operation's decomposition inline; None if it has none."""
    if primitive.decomposition is None:
        return None
    decomposition = primitive.decomposition

    def rule(b: Builder, *operands: Val, **params: Any) -> Any:
        def body(*xs: Any) -> list[Any]:
            out = decomposition(*xs, **params)
            return list(out) if primitive.multiple_results else [out]

        def inlined() -> Any:
            program = stage_closed(
                body, [x.aval.without_sharding() for x in operands], primitive.name
            )
            return b.inline(program, operands)

        try:
            results = run_at(b.source, inlined)
        except MissingRule as e:
            raise e.used_by(primitive) from None
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


@stablehlo_rules.register(device_put_p)
def _device_put_stablehlo(b: Any, x: Any, *, device: Any, **params: Any) -> Any:
    sharding = sharding_for(device)
    if sharding is not None:
        target = next(iter(sharding._internal_device_list))
        if target.client.platform != b.platform:
            raise ValueError(
                f"device_put to {target} inside a function that is compiled for {b.platform}: a "
                "compiled program runs on one platform. Move the value before the call, or its "
                "result after it."
            )
    return x if sharding is None else b.constrain(x, sharding)


@stablehlo_rules.register(sharding_constraint_p)
def _sharding_constraint_stablehlo(b: Any, x: Any, *, sharding: Any) -> Any:
    return b.constrain(x, sharding)
