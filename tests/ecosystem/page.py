"""Writes ``docs/ecosystem.md`` from ``results.json``."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

from .environment import ROOT
from .libraries import LIBRARIES, Library
from .measuring import MEASURES
from .results import programs_of, tests_of

PAGE = ROOT / "docs" / "ecosystem.md"
BEGIN, END = "<!-- begin: written by make ecosystem -->\n", "<!-- end: ecosystem -->"


def write() -> None:
    """Renews what is between the page's marks."""
    PAGE.write_text(renewed(PAGE.read_text()))


def renewed(text: str) -> str:
    """The page with the tables of all libraries of which there are results."""
    head, rest = text.split(BEGIN)
    made = ("\n".join(part) for part in (_tests(), _notes(), _medians(), _programs(), _left_out()))
    return head + BEGIN + "\n" + "\n\n".join(filter(None, made)) + "\n\n" + END + rest.split(END)[1]


def _tests() -> Iterator[str]:
    yield "| library | version | tests here / on JAX | share |"
    yield "|---|---|---|---|"
    for library in sorted(LIBRARIES.values(), key=lambda library: library.name):
        result = tests_of(library)
        if result:
            some = f" (every {_th(result.every)})" if result.every > 1 else ""
            counts = f"{result.here:,} / {result.there:,}{some}"
            share = f"{100 * result.here / result.there:.1f} %"
            yield f"| {library.name} | {result.version} | {counts} | {share} |"


def _th(n: int) -> str:
    return f"{n}{'rd' if n == 3 else 'th'}"


def _notes() -> Iterator[str]:
    """Of which version tests are, where it is another; what fails, and why."""
    for library in LIBRARIES.values():
        result = tests_of(library)
        if result and library.note:
            yield f"- {library.name}: {library.note}."
        if result and result.suite != result.version:
            yield f"- The tests of {library.name} are those of version {result.suite}."
        if result and library.fails and result.here < result.there:
            yield f"- {library.name}, {result.there - result.here} tests: {library.fails}."


def _measured() -> Iterator[tuple[str, dict[str, dict[str, float | None]], str]]:
    for library in sorted(LIBRARIES.values(), key=lambda library: library.name):
        result = programs_of(library)
        for name, (times, problem) in sorted(result.programs.items()) if result else ():
            yield f"{library.folder}/{name}", times, problem


def ratio(times: dict[str, dict[str, float | None]], measure: str) -> float | None:
    """Dovetail's time divided by JAX's."""
    mine, theirs = (times.get(side, {}).get(measure) for side in ("dovetail", "jax"))
    return mine / theirs if mine and theirs else None


def _medians() -> Iterator[str]:
    every = [times for _, times, problem in _measured() if not problem]
    told: list[str] = []
    for measure in MEASURES:
        ratios = [result for times in every if (result := ratio(times, measure)) is not None]
        if ratios:
            told.append(f"{_NAMES[measure]} {statistics.median(ratios):.2f}")
    if told:
        yield f"Programs, here / on JAX. Medians of the ratios of {len(every)}: {', '.join(told)}."


_NAMES = {"import": "import", "first": "first step", "steady": "steady step", "whole": "whole"}


def _programs() -> Iterator[str]:
    yield f"| program | {' | '.join(f'{_NAMES[m]} | ratio' for m in MEASURES)} |"
    yield "|---" * (1 + 2 * len(MEASURES)) + "|"
    for name, times, problem in _measured():
        cells = " | ".join(_seconds(times, measure) for measure in MEASURES)
        yield f"| {name} | {problem or cells} |"


def _seconds(times: dict[str, dict[str, float | None]], measure: str) -> str:
    result = ratio(times, measure)
    if result is None:
        return " | "
    mine, theirs = (_short(times[side][measure]) for side in ("dovetail", "jax"))
    return f"{mine} / {theirs} | {result:.2f}"


def _short(seconds: float | None) -> str:
    if seconds is None:
        return ""
    if seconds >= 0.1:
        return f"{seconds:.2f} s"
    return f"{seconds * 1e3:.3g} ms" if seconds >= 1e-3 else f"{seconds * 1e6:.3g} µs"


def _left_out() -> Iterator[str]:
    yield "What could not be had, or is not compared:"
    yield ""
    for library in LIBRARIES.values():
        if library.without:
            yield f"- {library.name}: {library.without}."
        elif tests_of(library) is None:
            yield f"- {library.name}: its tests have not been run in whole."
        for start, why in library.left_out.items():
            yield f"- {library.name}, `{start}`: {why}."
        yield from _failing_there(library)


def _failing_there(library: Library) -> Iterator[str]:
    result = tests_of(library)
    if result and result.failed_there:
        tests = "test fails" if result.failed_there == 1 else "tests fail"
        yield f"- {library.name}: {result.failed_there} {tests} on genuine JAX, too."
