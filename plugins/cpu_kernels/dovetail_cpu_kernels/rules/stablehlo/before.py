"""Operands as they were before what a kernel does as it reads them."""

from __future__ import annotations

from typing import Any

from dovetail_backends import tensor_type

from .origins import made, number, origin


def before_wrapping(b: Any, places: Any, size: int) -> Any:
    """The int32 indices of which ``places`` is made by adding ``size`` to negative ones.

    Indexing writes ``where(i < 0, i + size, i)`` before every gather and scatter; as a loop of its
    own it takes as long as the sums. None where it is not made so, or not in the same function.
    """
    aval = places.aval.update(shape=(places.aval.size,))
    chosen = origin(b, places.name)
    if chosen is None or chosen.name != "select" or chosen.types[-1] != tensor_type(aval):
        return None
    condition, wrapped, raw = chosen.operands
    below, added = origin(b, condition), origin(b, wrapped)
    if (
        below is None
        or below.name != "compare"
        or "comparison_direction LT" not in below.attributes
    ):
        return None
    if added is None or added.name != "add" or not below.operands[0] == added.operands[0] == raw:
        return None
    if (number(b, below.operands[1]), number(b, added.operands[1])) != ("0", str(size)):
        return None
    return type(places)(raw, aval, chosen.types[-1])


_TWO = {"float32": "0x40000000", "float64": "0x4000000000000000"}


def before_symmetrizing(b: Any, x: Any) -> Any:
    """The matrices of which ``x`` is the mean with their transposes, if it is made so."""
    mean, rank = made(b, x.name), len(x.aval.shape)
    if (
        mean is None
        or mean.name != "divide"
        or number(b, mean.operands[1]) != _TWO[x.aval.dtype.name]
    ):
        return None
    total = made(b, mean.operands[0])
    if total is None or total.name != "add":
        return None
    raw, turned = total.operands
    turn = made(b, turned)
    order = ", ".join(map(str, [*range(rank - 2), rank - 1, rank - 2]))
    if turn is None or turn.name != "transpose" or turn.operands[0] != raw:
        return None
    return type(x)(raw, x.aval, x.type) if f"array<i64: {order}>" in turn.attributes else None
