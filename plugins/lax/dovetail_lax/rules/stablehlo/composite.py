"""Lowering named operations to ``stablehlo.composite``, with what they are made of beside them."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import attributes as mlir, element_type
from dovetail_core import ClosedJaxpr

from ...primitives.composite import ArrayAttribute, TypeAttribute, composite_p


@stablehlo_rules.register(composite_p)
def _composite(
    b: Any, *operands: Any, program: ClosedJaxpr, name: str, version: int, attributes: Any
) -> Any:
    entries = {
        "name": mlir.string(name),
        "composite_attributes": mlir.dictionary({k: _attribute(v) for k, v in attributes}),
        "decomposition": mlir.symbol(b.function(program)),
        "version": mlir.i32(version),
    }
    return b.op("stablehlo.composite", operands, list(b.outs), entries)


def _attribute(value: Any) -> Any:
    if isinstance(value, bool):
        return mlir.boolean(value)
    if isinstance(value, int):
        return mlir.i64(value)
    if isinstance(value, float):
        return mlir.floating(value, "float64")
    if isinstance(value, str):
        return mlir.string(value)
    if isinstance(value, ArrayAttribute):
        return mlir.dense_array(value.array)
    if isinstance(value, TypeAttribute):
        return mlir.Attribute(element_type(value.dtype))
    kind, *parts = value
    if kind == "mapping":
        return mlir.dictionary({k: _attribute(v) for k, v in parts})
    return mlir.sequence([_attribute(v) for v in parts])
