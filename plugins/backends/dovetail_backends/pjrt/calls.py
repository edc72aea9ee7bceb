"""Calls of foreign functions: custom calls of XLA's typed interface."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dovetail_core import AbstractValue

from .attributes import Attribute, dictionary, i32, layouts
from .emitter import Emitter, Val

_TYPED = 4  # the version of the interface


def custom_call(
    b: Emitter,
    target: str,
    operands: Sequence[Val],
    outs: Sequence[AbstractValue],
    config: Mapping[str, Any],
    effect: bool,
    further: Mapping[str, Any],
    notes: Mapping[str, Any] | None = None,
) -> list[Val]:
    """Emit a call; see :meth:`Builder.custom_call`."""
    attributes: dict[str, Any] = {
        "call_target_name": target,
        "api_version": i32(_TYPED),
        "backend_config": dictionary(config),
        "has_side_effect": effect,
        "operand_layouts": _layouts([x.aval for x in operands]),
        "result_layouts": _layouts(outs),
        **further,
    }
    return b.op("stablehlo.custom_call", operands, list(outs), attributes, notes=notes or {})


def _layouts(avals: Sequence[Any]) -> Attribute:
    """Row-major layouts: the last axis is the fastest."""
    return layouts([range(len(a.shape))[::-1] for a in avals])
