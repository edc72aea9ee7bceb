"""The rule table of what operations do with keys: which they use up, which they pass on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_core import Primitive, RuleTable, ShapedArray

from ..implementations import KeyType


def is_of_keys(aval: Any) -> bool:
    """Whether a type is that of an array of keys."""
    return isinstance(aval, ShapedArray) and isinstance(aval.dtype, KeyType)


class Operand(NamedTuple):
    """An operand: its type, and its value where that is known when the check is made."""

    aval: Any
    value: Any = None


class Uses(NamedTuple):
    """What an operation does with keys.

    Attributes:
        used: for operands by position the elements that are used up, as a boolean array of the
            operand's shape, or True for all of them.
        passed_on: results by position that are the same keys as an operand.
    """

    used: Mapping[int, Any] = {}
    passed_on: Mapping[int, int] = {}


class ReuseRule(Protocol):
    """Says what an application does with keys: ``rule(*operands, **params)``, of ``Operand``s."""

    def __call__(self, *operands: Operand, **params: Any) -> Uses: ...


def uses_all(*operands: Operand, **params: Any) -> Uses:
    """The rule of operations that draw, or put keys elsewhere: what they are given is used up."""
    return Uses({i: True for i, x in enumerate(operands) if is_of_keys(x.aval)})


def uses_none(*operands: Operand, **params: Any) -> Uses:
    """The rule of operations that look at keys, or make others of them, and leave them unused."""
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
    empty="its sub-programs are looked at",
)
"""What is used up twice is an error while ``debug_key_reuse`` is on."""
