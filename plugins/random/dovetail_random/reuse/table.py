"""The rule table of key reuse: the keys that operations use up, and those that they pass on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_core import Primitive, RuleTable, ShapedArray

from ..implementations import KeyType


def is_of_keys(aval: Any) -> bool:
    """True for the type of an array of keys."""
    return isinstance(aval, ShapedArray) and isinstance(aval.dtype, KeyType)


class Operand(NamedTuple):
    """An operand: its type, and its value if that is concrete."""

    aval: Any
    value: Any = None


class Uses(NamedTuple):
    """The keys that an operation uses up or returns unchanged.

    Attributes:
        used: for operands by position the elements that are used up, as a boolean array of the
            operand's shape, or True for all of them.
        passed_on: results by position that are the same keys as an operand.
    """

    used: Mapping[int, Any] = {}
    passed_on: Mapping[int, int] = {}


class ReuseRule(Protocol):
    """The uses of keys by one application: ``rule(*operands, **params)``, of ``Operand``s."""

    def __call__(self, *operands: Operand, **params: Any) -> Uses: ...


def uses_all(*operands: Operand, **params: Any) -> Uses:
    """The rule of operations that draw or move keys: all keys that they are given are used up."""
    return Uses({i: True for i, x in enumerate(operands) if is_of_keys(x.aval)})


def uses_none(*operands: Operand, **params: Any) -> Uses:
    """The rule of operations that compare keys or derive others, and use none up."""
    return Uses()


def passes_on(*operands: Operand, **params: Any) -> Uses:
    """The rule of operations whose results are their operands, in order."""
    keys: Sequence[int] = [i for i, x in enumerate(operands) if is_of_keys(x.aval)]
    return Uses(passed_on={i: i for i in keys})


def _derive(primitive: Primitive) -> ReuseRule | None:
    return uses_all if primitive.regions is None else None


reuse_rules: RuleTable[Callable[..., Uses]] = RuleTable(
    "random.key_reuse",
    signature=ReuseRule,
    derive=_derive,
    law="key_reuse",
    empty="its sub-programs are checked",
)
"""While ``debug_key_reuse`` is on, keys that are used up twice are errors."""
