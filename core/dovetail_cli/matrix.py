"""``dovetail matrix``: primitives and tables, with a mark for the kind of each rule."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from collections import Counter
from fnmatch import fnmatch
from pathlib import Path

from dovetail_base.errors import RegistryError
from dovetail_core import Primitive

from . import rules
from .find import find_table
from .marks import MARKS, coloured, mark
from .render import count, style

help = "print primitives x tables: which rules are declared, derived, or missing"

Rows = dict[str, dict[str, rules.Rule]]


def configure(parser: ArgumentParser) -> None:
    """Add the arguments: which primitives and tables."""
    parser.add_argument(
        "--table", action="append", metavar="NAME", help="only this table (may be repeated)"
    )
    parser.add_argument(
        "--primitive",
        action="append",
        metavar="PATTERN",
        help="only primitives whose name fits, as 'acme.*'",
    )
    parser.add_argument(
        "--holes",
        action="store_true",
        help="only primitives with a hole; exit status 1 if there is one",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="write it as a page for a browser, with where each rule comes from",
    )


def run(args: Namespace) -> int:
    """Print the matrix."""
    names = [find_table(t) for t in args.table] if args.table else rules.table_names()
    tables, problems = rules.load_tables(names)
    names = list(tables)
    primitives = {n: p for n, p in rules.all_primitives().items() if _fits(n, args.primitive)}
    matrix: Rows = {
        name: {c: rules.rule(t, p) for c, t in tables.items()} for name, p in primitives.items()
    }
    if args.holes:
        matrix = {n: row for n, row in matrix.items() if _holes(row)}
    result = Counter(c.kind for row in matrix.values() for c in row.values())
    for table in tables:
        problems += rules.broken({n: row[table] for n, row in matrix.items()})
    if args.html:
        from . import matrix_page  # it needs dovetail_testing, which others do without

        _write(args.html, matrix_page.page(matrix, primitives, tables, problems))
    elif matrix:
        print("\n".join(_grid(matrix, primitives, names)))
        print(f"\n{_legend(result)}")
        for line in _of_platforms(matrix):
            print(line)
    print(
        f"{count(len(matrix), 'primitive')}{' with a hole' if args.holes else ''}, "
        f"{count(len(names), 'table')}"
    )
    for problem in problems:
        print(f"{style('problem:', 'red')} {problem}")
    return int(bool((args.holes and matrix) or problems))


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as e:
        raise RegistryError(f"{file} cannot be written: {e}") from e
    print(f"{file}: written")


def _fits(name: str, patterns: list[str] | None) -> bool:
    return not patterns or any(fnmatch(name, p) for p in patterns)


def _holes(row: dict[str, rules.Rule]) -> bool:
    return any(c.kind in (rules.HOLE, rules.BROKEN) for c in row.values())


def _grid(matrix: Rows, primitives: dict[str, Primitive], tables: list[str]) -> list[str]:
    """Two lines of header (the owners of tables, their names), then a line for each primitive."""
    names = [c.rpartition(".")[2] for c in tables]
    owners = [c.rpartition(".")[0] for c in tables]
    shown = [o if i == 0 or owners[i - 1] != o else "" for i, o in enumerate(owners)]
    widths = [max(len(n), len(o)) for n, o in zip(names, shown)]
    homes = {n: primitives[n].module.partition(".")[0] for n in matrix}
    row_width = max(map(len, [*matrix, "primitive"]))
    home_width = max(map(len, [*homes.values(), "defined in"]))
    lead = f"{'primitive':{row_width}}  {'defined in':{home_width}}  "
    lines = [
        style((" " * len(lead) + _padded(shown, widths)).rstrip(), "bold"),
        style((lead + _padded(names, widths)).rstrip(), "bold"),
    ]
    for name, row in matrix.items():
        marks = [coloured(mark(row[c].kind), row[c].kind) for c in tables]
        padded = [f"{m}{' ' * (w - 1)}" for m, w in zip(marks, widths)]
        home = style(f"{homes[name]:{home_width}}", "dim")
        lines.append(f"{name:{row_width}}  {home}  {'  '.join(padded)}".rstrip())
    return lines


def _padded(texts: list[str], widths: list[int]) -> str:
    return "  ".join(t.ljust(w) for t, w in zip(texts, widths))


def _of_platforms(matrix: Rows) -> list[str]:
    """The rules of single platforms: a line for each platform of a table."""
    result: dict[tuple[str, str], list[str]] = {}
    for name, row in matrix.items():
        for table, rule in row.items():
            for platform in rule.platforms:
                result.setdefault((table, platform), []).append(name)
    return [
        f"{table} has rules of their own for {platform}: {', '.join(names)}"
        for (table, platform), names in sorted(result.items())
    ]


def _legend(result: Counter[str]) -> str:
    """The marks that occur, with the number of their occurrences."""
    kinds = [k for k in MARKS if result[k]]
    return "   ".join(f"{mark(k)} {MARKS[k].meaning}: {result[k]}" for k in kinds)
