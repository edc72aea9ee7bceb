"""Sections of RESULTS.md, each written by a script of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

RESULTS = Path(__file__).parent / "RESULTS.md"


def write(script: str, title: str, lines: Sequence[str]) -> None:
    """Put a section into RESULTS.md in place of the one before, else at the end under a title."""
    begin, end = (f"<!-- {which}: written by benchmarks/{script} -->" for which in ("begin", "end"))
    old = RESULTS.read_text()
    section = "\n".join([begin, "", *lines, "", end])
    if begin in old:
        before, rest = old.split(begin, 1)
        new = before + section + rest.split(end, 1)[1]
    else:
        new = f"{old.rstrip()}\n\n{title}\n\n{section}\n"
    RESULTS.write_text(new)
    print(f"wrote the section of {script} in {RESULTS.name}")
