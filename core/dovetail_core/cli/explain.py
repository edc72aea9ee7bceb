"""``dovetail explain ROW COLUMN``: where one cell comes from, or how to fill it."""

from __future__ import annotations

import inspect
from argparse import ArgumentParser, Namespace
from typing import Any

from ..plugins import distribution_of, registry
from ..primitive import Primitive
from ..tables import Origin, RuleTable
from . import cells
from .find import find_column, find_row
from .render import fields, style

help = "say where the rule of a row under a column comes from, or how to write it"

_TITLES = {
    cells.DECLARED: "declared",
    cells.OVERRIDE: "declared, overriding another",
    cells.DERIVED: "derived",
    cells.EMPTY: "no cell, and none is needed",
    cells.HOLE: "a hole",
}


def configure(parser: ArgumentParser) -> None:
    """Arguments: the row and the column."""
    parser.add_argument("row", help="name of a primitive, as sin")
    parser.add_argument("column", help="name of a table, as ad.jvp (or jvp where that is clear)")


def run(args: Namespace) -> int:
    """Print one cell; 1 if it is a hole."""
    column = find_column(args.column)
    primitive, table = find_row(args.row), cells.load_column(column)
    cell = cells.cell(table, primitive)
    print(style(f"{primitive.name} x {column}: {_TITLES[cell.kind]}", "bold"))
    pairs = [*_origin(cell, table, primitive), ("row", _row(primitive)), *_column(table)]
    if cell.kind in (cells.HOLE, cells.DERIVED, cells.EMPTY):
        wanted = "to fill it" if cell.kind == cells.HOLE else "to better it"
        pairs.append((wanted, _remedy(table, primitive)))
    print(fields(pairs))
    return int(cell.kind == cells.HOLE)


def _origin(cell: cells.Cell, table: RuleTable[Any], primitive: Primitive) -> list[tuple[str, str]]:
    if cell.kind == cells.EMPTY:
        return [("then", cell.source)]
    if cell.kind == cells.HOLE:
        why = "it has no decomposition" if primitive.decomposition is None else ""
        return [("because", why or "the table cannot derive one from the decomposition")]
    if cell.kind == cells.DERIVED:
        return [("follows from", _derivation(cell, primitive))]
    pairs = [("registered at", _place(cell.origin)), ("rule", _signature(table.rules[primitive]))]
    replaced = cell.origin.replaced if cell.origin else None
    while replaced is not None:
        pairs.append(("in place of", _place(replaced)))
        replaced = replaced.replaced
    return pairs


def _derivation(cell: cells.Cell, primitive: Primitive) -> str:
    if cell.source == "form":
        return f"the row's form, {_code(primitive.form)}, and how the column carries values"
    if cell.source == "decomposition":
        return f"the row's decomposition, {_code(primitive.decomposition)}"
    return "what the table makes of rows without a cell"


def _place(origin: Origin | None) -> str:
    return f"{origin}, of {distribution_of(origin.module)}" if origin else "an unknown place"


def _code(function: Any) -> str:
    code = getattr(inspect.unwrap(function), "__code__", None)
    line = f":{code.co_firstlineno}" if code is not None else ""
    return f"{getattr(function, '__module__', '?')}{line}"


def _signature(rule: Any) -> str:
    name: str = getattr(rule, "__qualname__", None) or repr(rule)
    try:
        parameters = inspect.signature(rule).parameters.values()
    except (TypeError, ValueError):
        return name
    stars = {inspect.Parameter.VAR_POSITIONAL: "*", inspect.Parameter.VAR_KEYWORD: "**"}
    return f"{name}({', '.join(stars.get(p.kind, '') + p.name for p in parameters)})"


def _row(primitive: Primitive) -> str:
    results = "a list of results" if primitive.multiple_results else "one result"
    parts = [
        part
        for part, has in (
            ("a decomposition", primitive.decomposition),
            ("sub-programs (a form)", primitive.form),
        )
        if has is not None
    ]
    return (
        f"{primitive.name}, defined in {primitive.module} of {distribution_of(primitive.module)}; "
        f"{', '.join([results, *parts])}"
    )


def _column(table: RuleTable[Any]) -> list[tuple[str, str]]:
    pairs = [
        ("column", f"{table.name}, defined in {table.module} of {distribution_of(table.module)}")
    ]
    if table.signature is not None:
        doc = (inspect.getdoc(table.signature) or "").split("\n\n")
        paragraphs = "\n".join(" ".join(p.split()) for p in doc)
        pairs.append(("a rule is", f"a {table.signature.__name__}: {paragraphs}"))
    target = registry().entries("laws").get(table.name)
    if target or table.law:
        pairs.append(
            ("law", f"{table.law or target}{f' ({target})' if target and table.law else ''}")
        )
    return pairs


def _remedy(table: RuleTable[Any], primitive: Primitive) -> str:
    variable = f"{primitive.name.rpartition('.')[2]}_p"
    owner = table.signature.__name__ if table.signature is not None else "a rule"
    lines = [
        f"@dovetail_core.registry().table({table.name!r}).register({variable})",
        f"def {variable.removesuffix('_p')}_rule(...):  # see {owner}",
        f"in a module that your manifest names: contributes={{{table.name!r}: ('your.module',)}}",
    ]
    if primitive.decomposition is None and primitive.form is None:
        lines.append(f"or say what it is made of, for every column: @{variable}.def_decomposition")
    return "\n".join(lines)
