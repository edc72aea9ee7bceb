"""How many lines of code the kernel has, and the bounds that it keeps.

Lines with code count: no blank lines, no comments, no strings that are statements (docstrings), and
no lists of a module's public names (`__all__`). The
kernel is `dovetail_core`, and what it stands on of `dovetail_base` by itself: errors, source
locations, options, caches (decision 26). The list of public names and the table of names that have
moved count apart: they say where things are.

Run without arguments: prints the parts, and exits with 1 if one is larger than its bound.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parent.parent
CORE = "core/dovetail_core"
BASE = "core/dovetail_base"

PARTS: dict[str, tuple[str, ...]] = {
    "types": (f"{CORE}/types",),
    "primitives and traces": (f"{CORE}/dispatch",),
    "programs": (f"{CORE}/ir",),
    "rules": (f"{CORE}/rules",),
    "interpretations": (f"{CORE}/interpret",),
    "plugins": (f"{CORE}/registry",),
    "errors, source locations, options, caches": tuple(
        f"{BASE}/{name}.py" for name in ("errors", "source", "options", "caches")
    ),
    "lists of names": (f"{CORE}/__init__.py", f"{CORE}/late.py", f"{CORE}/moved.py"),
}
FOLDERS = tuple(PARTS)[:6]
"""The parts that are folders of ``dovetail_core``."""
BOUNDS = {"folders": 4960, "all": 5800}
"""The most lines of the folders together, and of all parts. They are lowered, never raised."""

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text: str) -> int:
    """The number of lines of a module that have code."""
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in _LAYOUT:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in ast.walk(ast.parse(text)):
        match node:
            case (
                ast.Expr(value=ast.Constant(value=str()))
                | ast.Assign(targets=[ast.Name(id="__all__")])
            ):
                lines.difference_update(range(node.lineno, (node.end_lineno or 0) + 1))
            case _:
                pass
    return len(lines)


def size(root: Path, paths: Sequence[str]) -> int:
    """The lines of code of files and folders.

    Raises:
        FileNotFoundError: one of them does not exist.
    """
    result = 0
    for path in paths:
        where = root / path
        files = sorted(where.rglob("*.py")) if where.is_dir() else [where]
        result += sum(code_lines(f.read_text(encoding="utf-8")) for f in files)
    return result


def main(root: Path = ROOT, bounds: Mapping[str, int] = BOUNDS) -> int:
    """Print the sizes; returns 1 if one is larger than its bound."""
    sizes = {part: size(root, paths) for part, paths in PARTS.items()}
    totals = {"folders": sum(sizes[p] for p in FOLDERS), "all": sum(sizes.values())}
    for part, lines in sizes.items():
        print(f"{lines:6} {part}")
    large = [name for name, lines in totals.items() if lines > bounds[name]]
    for name, lines in totals.items():
        print(f"{lines:6} {name} (at most {bounds[name]})")
    for name in large:
        print(
            f"the kernel ({name}) has {totals[name]} lines of code, {totals[name] - bounds[name]} "
            "too many: move what is no kernel to where it belongs (docs/decisions/0026-*)"
        )
    return int(bool(large))


if __name__ == "__main__":
    sys.exit(main())
