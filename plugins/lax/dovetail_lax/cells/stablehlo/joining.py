"""Lowering of what joins arrays; split, stack, unstack and tile lower by their decompositions."""

from __future__ import annotations

from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt.text import i64_array

from ...primitives.joining import Padding, concatenate_p, pad_p


@stablehlo_rules.register(concatenate_p)
def _concatenate(b: Any, *operands: Any, dimension: int) -> Any:
    return b.op("stablehlo.concatenate", operands, b.out, f"dimension = {dimension} : i64")


@stablehlo_rules.register(pad_p)
def _pad(b: Any, x: Any, value: Any, *, padding_config: Padding) -> Any:
    low, high, interior = (i64_array([c[k] for c in padding_config]) for k in range(3))
    attrs = f"edge_padding_low = {low}, edge_padding_high = {high}, interior_padding = {interior}"
    return b.op("stablehlo.pad", [x, value], b.out, attrs)
