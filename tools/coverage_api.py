"""Which of JAX's public names there are, module by module, and whose parameters differ.

    python tools/coverage_api.py [--show MODULE ...] [--quiet] [--write]

The names are those of ``tests/compat/jax_public_api.csv``. The table in ``docs/coverage.md`` says
how many are present; where fewer are, this exits with 1. ``--write`` renews it.
"""

from __future__ import annotations

import argparse
import csv
import inspect
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
NAMES = ROOT / "tests/compat/jax_public_api.csv"
PAGE = ROOT / "docs/coverage.md"
BEGIN, END = "<!-- begin: written by tools/coverage_api.py -->", "<!-- end -->"
STARS = {"*", "**"}
LETTERS = "abcdefghijklmnopqrstuvwxyz_"
HEAD = ("module of JAX", "names", "present", "missing", "parameters differ")


class Name(NamedTuple):
    """A public name of JAX: a parameter with a default ends in ``=``."""

    module: str
    name: str
    kind: str
    parameters: str


class Count(NamedTuple):
    """What there is of a module."""

    names: int
    missing: list[str]
    differing: list[str]


def home(module: str) -> Any:
    """What has the names of JAX's ``module`` here; None if nothing does."""
    path = module.replace("jax", "dovetail", 1)
    if path.startswith("dovetail.Array"):
        array = import_module("dovetail.numpy").ones((1, 1))
        return array.at[0] if path.endswith("at[]") else array
    try:
        return import_module(path)
    except ImportError:
        return None


def parameters(f: Any) -> list[str] | None:
    """The parameters, written as in the list, those by position alone with a slash in front.

    None if Python cannot tell.
    """
    try:
        result = inspect.signature(f).parameters.values()
    except (TypeError, ValueError):
        return None
    marks = {
        inspect.Parameter.POSITIONAL_ONLY: "/",
        inspect.Parameter.VAR_POSITIONAL: "*",
        inspect.Parameter.VAR_KEYWORD: "**",
    }
    return [
        marks.get(p.kind, "") + p.name + ("=" if p.default is not inspect.Parameter.empty else "")
        for p in result
    ]


def differs(wanted: str, mine: list[str] | None) -> bool:
    """Whether a call that JAX takes may be refused: further optional parameters are no matter."""
    theirs = [p for p in wanted.strip("()").split(", ") if p and p[0] != "_"]
    if mine is None or not wanted or {p.rstrip(LETTERS) for p in mine} >= STARS:
        return False
    own = [_as_theirs(p, at, theirs) for at, p in enumerate(mine)]
    extra = [p for p in own if p not in theirs and p[:1] != "*"]
    return [p for p in own if p in theirs] != theirs or any(not p.endswith("=") for p in extra)


def _as_theirs(p: str, at: int, theirs: list[str]) -> str:
    """A parameter by their name: those by position have any, and may have a default."""
    if p.startswith("*"):  # whose names no caller sees
        return next((t for t in theirs if t.rstrip(LETTERS) == p.rstrip(LETTERS)), p)
    if p.startswith("/"):
        return theirs[at] if at < len(theirs) else p[1:]
    return p[:-1] if p.endswith("=") and p[:-1] in theirs else p


def count(names: list[Name]) -> Count:
    """What there is of the names of one module."""
    place = home(names[0].module)
    missing = [n.name for n in names if not hasattr(place, n.name)]
    differing = [
        n.name
        for n in names
        if n.kind == "function" and n.name not in missing
        and differs(n.parameters, parameters(getattr(place, n.name)))
    ]  # fmt: skip
    return Count(len(names), missing, differing)


def modules() -> Iterator[tuple[str, list[Name]]]:
    """JAX's modules with their names."""
    with NAMES.open() as lines:
        rows = [Name(*row) for row in csv.reader(lines)][1:]
    for module in sorted({r.module for r in rows}):
        yield module, [r for r in rows if r.module == module]


def table(result: dict[str, Count]) -> str:
    """The counts as a table in Markdown, with totals."""
    rows = [
        (f"`{m}`", c.names, c.names - len(c.missing), len(c.missing), len(c.differing))
        for m, c in result.items()
    ]
    rows.append(("all", *[sum(r[i] for r in rows) for i in range(1, 5)]))  # type: ignore[misc]
    cells = [HEAD, *[tuple(map(str, r)) for r in rows]]
    widths = [max(len(r[i]) for r in cells) for i in range(len(HEAD))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(r, widths)) + " |" for r in cells]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def written(text: str) -> dict[str, tuple[int, int]]:
    """How many names are missing and differ by module, as the page says."""
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    return {r[1].strip().strip("`"): (int(r[4]), int(r[5])) for r in rows}


def worse(result: dict[str, Count], page: str) -> list[str]:
    """A line for each module of which less is there than the page says."""
    return [
        f"{m}: {len(c.missing)} missing and {len(c.differing)} with other parameters, where "
        f"{PAGE.name} says {before[0]} and {before[1]}"
        for m, c in result.items()
        if (before := written(page).get(m)) and (len(c.missing), len(c.differing)) > before
    ]


def main() -> int:
    """Print the table, or what a module lacks; compare with the page, or renew it."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--show", nargs="+", default=[], metavar="MODULE")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--quiet", action="store_true", help="print no table")
    given = parser.parse_args()
    result = {module: count(names) for module, names in modules()}
    for m in given.show:
        print(f"{m}\n  missing: {' '.join(result[m].missing) or 'nothing'}")
        print(f"  parameters differ: {' '.join(result[m].differing) or 'nowhere'}")
    if not given.show and not given.quiet:
        print(table(result))
    page = PAGE.read_text()
    if given.write:
        before, rest = page.split(BEGIN)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table(result)}\n\n{END}{rest.split(END)[1]}")
        return 0
    problems = worse(result, page)
    for line in problems:
        print(line)
    return len(problems) > 0


if __name__ == "__main__":
    sys.exit(main())
