"""Indices as they were before negative ones counted from the end: a kernel does that as it reads.

Indexing writes ``where(i < 0, i + size, i)`` before every gather and scatter. In front of a foreign
function XLA makes a loop of its own of it, which takes as long as the sums.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_backends import tensor_type

_LINE = re.compile(r'"stablehlo\.(\w+)"\(([^)]*)\)(?: <\{(.*)\}>)? : \(([^)]*)\) -> (\S+)')
_VALUE = re.compile(r"value = dense<(-?\d+)>")


class _Op(NamedTuple):
    name: str
    operands: Sequence[str]
    attributes: str
    types: Sequence[str]


def before_wrapping(b: Any, places: Any, size: int) -> Any:
    """The int32 indices of which ``places`` is made by adding ``size`` to negative ones.

    None where it is not made so, or elsewhere than in the function that is being written.
    """
    aval = places.aval.update(shape=(places.aval.size,))
    chosen = _origin(b, places.name)
    if chosen is None or chosen.name != "select" or chosen.types[-1] != tensor_type(aval):
        return None
    condition, wrapped, raw = chosen.operands
    below, added = _origin(b, condition), _origin(b, wrapped)
    if (
        below is None
        or below.name != "compare"
        or "comparison_direction LT" not in below.attributes
    ):
        return None
    if added is None or added.name != "add" or not below.operands[0] == added.operands[0] == raw:
        return None
    if (_number(b, below.operands[1]), _number(b, added.operands[1])) != (0, size):
        return None
    return type(places)(raw, aval, chosen.types[-1])


def _made(b: Any, name: str) -> _Op | None:
    start = f"{name} = "
    line = next((x for x in reversed(b.lines) if x.startswith(start)), None)
    found = line and _LINE.search(line)
    if not found:
        return None
    op, operands, attributes, types, _ = found.groups()
    return _Op(op, operands.split(", "), attributes or "", types.split(", "))


def _origin(b: Any, name: str) -> _Op | None:
    """What made a value, but for changes of its shape."""
    found = _made(b, name)
    while found is not None and found.name in ("reshape", "broadcast_in_dim"):
        found = _made(b, found.operands[0])
    return found


def _number(b: Any, name: str) -> int | None:
    """The number with which an array is filled."""
    found = _origin(b, name)
    value = found and found.name == "constant" and _VALUE.match(found.attributes)
    return int(value[1]) if value else None
