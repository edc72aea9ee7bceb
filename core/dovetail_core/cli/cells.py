"""The matrix as it is in this installation: every row, every column, and what each cell is."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..plugins import KERNEL_TABLES, registry
from ..primitive import Primitive, primitives
from ..tables import Origin, RuleTable
from ..value_parser import import_rows

DECLARED, OVERRIDE, DERIVED, EMPTY, HOLE = "declared", "override", "derived", "empty", "hole"


class Cell(NamedTuple):
    """What one cell is: its kind, where it came from, and what a derived one follows from."""

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
    """A column with all its cells."""
    table = registry().table(name)
    table.fill()
    return table


def cell(table: RuleTable[Any], primitive: Primitive) -> Cell:
    """The cell of ``primitive``, derived if it must be."""
    origin = table.origins.get(primitive)
    if origin is not None and origin.kind in (DECLARED, OVERRIDE):
        return Cell(origin.kind, origin)
    if table.get(primitive) is None:
        return Cell(EMPTY, None, table.empty) if table.empty else Cell(HOLE)
    if primitive.form is not None:
        return Cell(DERIVED, origin, "form")
    return Cell(DERIVED, origin, "decomposition" if primitive.decomposition else "table")
