"""Operations on sums over devices that are left to be done: each device has its summands."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Any

from .computation import attributes_of, sharding_text
from .specs import PartitionSpec


def on_summands(
    mesh: Any, axes: Set[Any], b: Any, types: Sequence[Any], operands: Sequence[Any],
    emit: Callable[..., list[Any]],
) -> list[Any]:  # fmt: skip
    """``emit(b, *operands)`` as a manual computation along ``axes``: that of a linear operation on
    operands of which some are sums along them, and whose results are such sums.

    Told of the results alone, Shardy takes what an operation of several steps makes in between as
    the sum, which each device has, and ends the process where it does not know the operation.
    """
    outs = b.outs

    def body(b: Any, *xs: Any) -> list[Any]:
        b.outs = tuple([a.without_sharding() for a in outs])
        return emit(b, *xs)

    divides, b.module.divides = b.module.divides, False
    try:
        region = b.region([a.without_sharding() for a in types], body, "sdy.return", True)
    finally:
        b.module.divides = divides
    own = [a for a in mesh.axis_names if a in axes]
    ins, results = ([_text(mesh, a, own) for a in avals] for avals in (types, outs))
    attributes = attributes_of(ins, results, mesh, own)
    return b.op("sdy.manual_computation", operands, list(outs), attributes, [region])


def _text(mesh: Any, aval: Any, own: Sequence[Any]) -> str:
    """How a value of this type is along these axes: a sum, or whole."""
    spec = PartitionSpec() if aval.divided is None else aval.divided.spec
    return sharding_text(mesh, (), aval.ndim, own, [a for a in spec.unreduced if a in own])
