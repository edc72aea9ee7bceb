"""What made a value of the function that is being written, read from its text.

A kernel takes over what would be a loop of XLA's in front of it: nothing can be fused with a
foreign function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

_LINE = re.compile(r'"stablehlo\.(\w+)"\(([^)]*)\)(?: <\{(.*)\}>)? : \(([^)]*)\) -> (\S+)')
_VALUE = re.compile(r"value = dense<([^>]*)>")


class Op(NamedTuple):
    """An operation: its name, the names and types of its operands, the text of its attributes."""

    name: str
    operands: Sequence[str]
    attributes: str
    types: Sequence[str]


def made(b: Any, name: str) -> Op | None:
    """The operation whose result a value is; None of arguments and of what is elsewhere."""
    start = f"{name} = "
    line = next((x for x in reversed(b.lines) if x.startswith(start)), None)
    result = line and _LINE.search(line)
    if not result:
        return None
    op, operands, attributes, types, _ = result.groups()
    return Op(op, operands.split(", "), attributes or "", types.split(", "))


def origin(b: Any, name: str) -> Op | None:
    """What made a value, but for changes of its shape."""
    result = made(b, name)
    while result is not None and result.name in ("reshape", "broadcast_in_dim"):
        result = made(b, result.operands[0])
    return result


def number(b: Any, name: str) -> str | None:
    """The number with which an array is filled, as the text has it: of floats its bits."""
    result = origin(b, name)
    value = result and result.name == "constant" and _VALUE.match(result.attributes)
    return value[1] if value else None
