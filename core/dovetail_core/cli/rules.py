"""The matrix as it is in this installation: every primitive, every table, and what each rule is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.primitive import Primitive, primitives
from ..registry.discovery import registry
from ..registry.plugins import KERNEL_TABLES
from ..rules.tables import Origin, RuleTable
from ..text.value_parser import import_primitives

DECLARED, OVERRIDE, DERIVED, EMPTY, HOLE = "declared", "override", "derived", "empty", "hole"


class Rule(NamedTuple):
    """What one rule is: its kind, where it came from, and what a derived one follows from."""

    kind: str
    origin: Origin | None = None
    source: str = ""


def all_primitives() -> dict[str, Primitive]:
    """All primitives, by name: the modules that plugins name are imported."""
    import_primitives()
    return dict(sorted(primitives().items()))


def table_names() -> list[str]:
    """The names of all tables, the kernel's last."""
    return [*sorted(registry().entries("tables")), *sorted(KERNEL_TABLES)]


def load_table(name: str) -> RuleTable[Any]:
    """A table with all its rules."""
    table = registry().table(name)
    table.fill()
    return table


def rule(table: RuleTable[Any], primitive: Primitive) -> Rule:
    """The rule of ``primitive``, derived if it must be."""
    origin = table.origins.get(primitive)
    if origin is not None and origin.kind in (DECLARED, OVERRIDE):
        return Rule(origin.kind, origin)
    if table.get(primitive) is None:
        return Rule(EMPTY, None, table.empty) if table.empty else Rule(HOLE)
    if primitive.regions is not None:
        return Rule(DERIVED, origin, "regions")
    return Rule(DERIVED, origin, "decomposition" if primitive.decomposition else "table")
