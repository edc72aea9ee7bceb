"""The matrix as it is in this installation: every row, every column, and what each rule is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.primitive import Primitive, primitives
from ..registry.discovery import registry
from ..registry.plugins import KERNEL_TABLES
from ..rules.tables import Origin, RuleTable
from ..text.value_parser import import_rows

DECLARED, OVERRIDE, DERIVED, EMPTY, HOLE = "declared", "override", "derived", "empty", "hole"


class Rule(NamedTuple):
    """What one rule is: its kind, where it came from, and what a derived one follows from."""

    kind: str
    origin: Origin | None = None
    source: str = ""


def rows() -> dict[str, Primitive]:
    """All rows, by name: the modules that plugins name are imported."""
    import_rows()
    return dict(sorted(primitives().items()))


def columns() -> list[str]:
    """The names of all columns, the kernel's last."""
    return [*sorted(registry().entries("tables")), *sorted(KERNEL_TABLES)]


def load_column(name: str) -> RuleTable[Any]:
    """A column with all its rules."""
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
    if primitive.form is not None:
        return Rule(DERIVED, origin, "form")
    return Rule(DERIVED, origin, "decomposition" if primitive.decomposition else "table")
