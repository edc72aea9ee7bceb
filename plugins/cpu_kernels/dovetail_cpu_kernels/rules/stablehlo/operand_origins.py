"""Origins of operands: the operations that computed them, read from the text of the function.

A kernel takes over the loop that would precede it, since XLA fuses nothing with a foreign function:
it reads the operands of that loop.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_backends import Val, tensor_type

_LINE = re.compile(r'"stablehlo\.(\w+)"\(([^)]*)\)(?: <\{(.*)\}>)? : \(([^)]*)\) -> (\S+)')
_VALUE = re.compile(r"value = dense<([^>]*)>")


class Op(NamedTuple):
    """An operation: its name, the names and types of its operands, the text of its attributes."""

    name: str
    operands: Sequence[str]
    attributes: str
    types: Sequence[str]


def made(b: Any, name: str) -> Op | None:
    """The operation that computed a value; None for arguments and for values of other functions."""
    start = f"{name} = "
    line = next((x for x in reversed(b.lines) if x.startswith(start)), None)
    result = line and _LINE.search(line)
    if not result:
        return None
    op, operands, attributes, types, _ = result.groups()
    return Op(op, operands.split(", "), attributes or "", types.split(", "))


def origin(b: Any, name: str) -> Op | None:
    """The operation that computed a value, changes of its shape left out."""
    result = made(b, name)
    while result is not None and result.name in ("reshape", "broadcast_in_dim"):
        result = made(b, result.operands[0])
    return result


def number(b: Any, name: str) -> str | None:
    """The number that fills an array, as it is in the text: the bits of a float."""
    result = origin(b, name)
    value = result and result.name == "constant" and _VALUE.match(result.attributes)
    return value[1] if value else None


def before_wrapping(b: Any, indices: Any, size: int) -> Any:
    """The int32 indices from which ``indices`` are computed by adding ``size`` to negative ones.

    Indexing writes ``where(i < 0, i + size, i)`` before every gather and scatter; as a separate
    loop it takes as long as the sums. None if they are computed otherwise, or in another function.
    """
    aval = indices.aval.update(shape=(indices.aval.size,))
    chosen = origin(b, indices.name)
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
    return Val(raw, aval, chosen.types[-1])


_TWO = {"float32": "0x40000000", "float64": "0x4000000000000000"}


def before_symmetrizing(b: Any, x: Any) -> Any:
    """The matrices of which ``x`` is the mean with their transposes; None if it is not."""
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
    return Val(raw, x.aval, x.type) if f"array<i64: {order}>" in turn.attributes else None
