"""Writes ``docs/ecosystem.md`` from the results below ``build/ecosystem``."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator

from .comparing import Comparison, stored as stored_comparison
from .environment import ROOT
from .libraries import LIBRARIES, Library
from .measuring import MEASURES, Measured, stored

PAGE = ROOT / "docs" / "ecosystem.md"
BEGIN, END = "<!-- begin: written by make ecosystem -->\n", "<!-- end: ecosystem -->"


def write() -> None:
    """Puts the tables of all libraries of which there are results between the page's marks."""
    text = PAGE.read_text()
    head, rest = text.split(BEGIN)
    parts = ["\n".join(part) for part in (_tests(), _programs(), _medians(), _left_out())]
    PAGE.write_text(head + BEGIN + "\n" + "\n\n".join(parts) + "\n\n" + END + rest.split(END)[1])


def _tests() -> Iterator[str]:
    yield "| library | version | pass here | of those that pass on JAX | share |"
    yield "|---|---|---|---|---|"
    for library in LIBRARIES.values():
        found = stored_comparison(library)
        start = f"| {library.name} | {library.version} |"
        yield f"{start} {_cells(found)} |" if found else f"{start} | | none: {library.without} |"


def _cells(found: Comparison) -> str:
    here = found.passed_there - len(found.failed)
    return f"{here} | {found.passed_there} | {100 * here / found.passed_there:.1f} %"


def _measured() -> Iterator[Measured]:
    for library in LIBRARIES.values():
        if stored(library).exists():
            yield from (Measured(*told) for told in json.loads(stored(library).read_text()))


def _programs() -> Iterator[str]:
    yield "| program | import | first step | steady step | from start to end | difference |"
    yield "|---|---|---|---|---|---|"
    for each in _measured():
        cells = " | ".join(_seconds(each, measure) for measure in MEASURES)
        yield f"| {each.library}: {each.program} | {cells} | {each.problem} |"


def _seconds(each: Measured, measure: str) -> str:
    ratio = each.ratio(measure)
    if ratio is None:
        return ""
    mine, theirs = (_short(each.times[side][measure]) for side in ("dovetail", "jax"))
    return f"{mine} / {theirs} = {ratio:.2f}"


def _short(seconds: float | None) -> str:
    if seconds is None:
        return ""
    unit, scale = ("s", 1.0) if seconds >= 0.1 else ("ms", 1e3) if seconds >= 1e-3 else ("µs", 1e6)
    return f"{seconds * scale:.3g} {unit}"


def _medians() -> Iterator[str]:
    every = [each for each in _measured() if not each.problem]
    told: list[str] = []
    for measure in MEASURES:
        ratios = [ratio for each in every if (ratio := each.ratio(measure)) is not None]
        if ratios:
            told.append(f"{_NAMES[measure]} {statistics.median(ratios):.2f}")
    yield f"Medians of the ratios of {len(every)} programs: {', '.join(told)}." if told else ""


_NAMES = {"import": "import", "first": "first step", "steady": "steady step", "whole": "whole"}


def _left_out() -> Iterator[str]:
    yield "What could not be had:"
    yield ""
    for library in LIBRARIES.values():
        if library.without:
            yield f"- {library.name}: {library.without}."
        for start, why in library.left_out.items():
            yield f"- {library.name}, `{start}`: {why}."
        yield from _failing_there(library)


def _failing_there(library: Library) -> Iterator[str]:
    found = stored_comparison(library)
    if found and found.failed_there:
        tests = "test fails" if found.failed_there == 1 else "tests fail"
        yield f"- {library.name}: {found.failed_there} {tests} on genuine JAX, too."
