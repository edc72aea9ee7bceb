"""The coverage of rules by a run of tests: one verdict for each rule, and a table as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

TRIED, FAILED, EXCUSED, TESTED, UNSUPPORTED, SKIPPED, UNTRIED = (
    "tried", "failed", "excused", "tested", "unsupported", "skipped", "untested",
)  # fmt: skip
VERDICTS = (FAILED, EXCUSED, TESTED, UNSUPPORTED, SKIPPED, UNTRIED)
"""The verdicts, weightiest first."""
MARKS = {
    FAILED: "✗", EXCUSED: "e", TESTED: "●", UNSUPPORTED: "u", SKIPPED: "-", UNTRIED: "○",
}  # fmt: skip
PROPERTY = "dovetail_rules"
"""The property of a test's report that holds the entries of its case."""
MOST = 60
"""The most primitives in the text, if all the others have the same verdicts."""


class Entry(NamedTuple):
    """The verdict of one case on a rule; ``TRIED`` until the report of the test is known."""

    primitive: str
    table: str
    verdict: str
    reason: str = ""


class Verdict(NamedTuple):
    """The verdict of all cases of one rule: the weightiest one, its reasons, the number of cases.

    ``unsupported`` is the number of cases that a backend does not support, whatever the verdict.
    """

    verdict: str
    reasons: tuple[str, ...]
    cases: int
    unsupported: int = 0


Coverage = dict[tuple[str, str], Verdict]
"""By primitive and rule table."""


def by_test(reports: Iterable[Any]) -> dict[str, Coverage]:
    """The coverage that pytest's reports show, by test function: ``file::function``."""
    result: dict[str, list[Entry]] = {}
    for report in reports:
        for key, value in getattr(report, "user_properties", ()):
            if key == PROPERTY:
                entries = [_judged(Entry(*entry), report) for entry in value]
                result.setdefault(report.nodeid.partition("[")[0], []).extend(entries)
    return {test: coverage(entries) for test, entries in sorted(result.items())}


def _judged(entry: Entry, report: Any) -> Entry:
    if entry.verdict != TRIED and report.outcome == "passed":
        return entry
    if report.outcome == "passed":
        return entry._replace(verdict=TESTED)
    if hasattr(report, "wasxfail"):
        return entry._replace(verdict=EXCUSED, reason=report.wasxfail.removeprefix("reason: "))
    if report.outcome == "skipped":
        reason = _reason_of_skip(report.longrepr)
        verdict = UNSUPPORTED if reason.startswith(f"{UNSUPPORTED}: ") else SKIPPED
        return entry._replace(verdict=verdict, reason=reason.removeprefix(f"{UNSUPPORTED}: "))
    crash = getattr(report.longrepr, "reprcrash", None)
    message = str(report.longrepr if crash is None else crash.message)
    return entry._replace(verdict=FAILED, reason=message.splitlines()[0] if message else "")


def _reason_of_skip(longrepr: Any) -> str:
    reason = str(longrepr[2] if isinstance(longrepr, (tuple, list)) else longrepr)  # type: ignore
    return reason.removeprefix("Skipped: ")


def coverage(entries: Iterable[Entry]) -> Coverage:
    """One verdict for each rule."""
    grouped: dict[tuple[str, str], list[Entry]] = {}
    for entry in entries:
        grouped.setdefault(entry[:2], []).append(entry)
    result: Coverage = {}
    for rule, entries in grouped.items():
        verdict = min((e.verdict for e in entries), key=VERDICTS.index)
        reasons = dict.fromkeys(e.reason for e in entries if e.verdict == verdict and e.reason)
        cases = sum(e.verdict != UNTRIED for e in entries)
        lacking = sum(e.verdict == UNSUPPORTED for e in entries)
        result[rule] = Verdict(verdict, tuple(reasons), cases, lacking)
    return result


def summary(result: Coverage) -> str:
    """The numbers of rules by verdict, and of samples that are not supported, as text: ``12 rules:
    10 tested, 2 untested; 3 samples unsupported``."""
    count = Counter(v.verdict for v in result.values())
    parts = [f"{count[v]} {v}" for v in VERDICTS if count[v]]
    lacking = sum(v.unsupported for v in result.values())
    more = f"; {lacking} sample{'' if lacking == 1 else 's'} {UNSUPPORTED}" if lacking else ""
    return f"{len(result)} rule{'' if len(result) == 1 else 's'}: {', '.join(parts)}{more}"


def names(result: Coverage) -> tuple[list[str], list[str]]:
    """The primitives and the tables of a coverage, in order."""
    return sorted({p for p, _ in result}), sorted({t for _, t in result})


def text(result: Coverage) -> list[str]:
    """Lines: a grid of primitives and tables, and the reasons of all that is not tested."""
    rows, tables = names(result)
    marks = {p: [_mark(result, p, t) for t in tables] for p in rows}
    shown = rows if len(rows) <= MOST else [p for p in rows if set(marks[p]) - {"●", "·"}]
    lines = [*_grid(shown, tables, marks)]
    if len(shown) < len(rows):
        lines.append(f"and {len(rows) - len(shown)} primitives whose rules are all tested")
    legend = "   ".join(f"{MARKS[v]} {v}" for v in VERDICTS if _any(result, v))
    return [*lines, "", legend, *_reasons(result)]


def _any(result: Coverage, verdict: str) -> bool:
    return any(v.verdict == verdict for v in result.values())


def _mark(result: Coverage, primitive: str, table: str) -> str:
    verdict = result.get((primitive, table))
    return "·" if verdict is None else MARKS[verdict.verdict]


def _grid(rows: Sequence[str], tables: Sequence[str], marks: dict[str, list[str]]) -> list[str]:
    """Column headings in two lines: the table's owner where it changes, and the table."""
    split = [t.partition(".") if "." in t else ("", "", t) for t in tables]
    owners = [o if i == 0 or split[i - 1][0] != o else "" for i, (o, _, _) in enumerate(split)]
    short = [s for _, _, s in split]
    widths = [max(len(a), len(b)) for a, b in zip(owners, short)]
    first = max(map(len, rows), default=0)
    return [
        _line("", owners, first, widths),
        _line("", short, first, widths),
        *(_line(p, marks[p], first, widths) for p in rows),
    ]


def _line(name: str, parts: Sequence[str], first: int, widths: Sequence[int]) -> str:
    columns = (part.ljust(width) for part, width in zip(parts, widths))
    return "  ".join([name.ljust(first), *columns]).rstrip()


def _reasons(result: Coverage) -> list[str]:
    """The rules, by verdict and reason."""
    grouped: dict[tuple[str, str], list[str]] = {}
    for (primitive, table), v in sorted(result.items()):
        for reason in v.reasons if v.verdict != TESTED else ():
            grouped.setdefault((v.verdict, reason), []).append(f"{primitive} x {table}")
    lines: list[str] = []
    for verdict in VERDICTS:
        for (entries, reason), rules in grouped.items():
            if entries == verdict:
                lines += [f"{verdict}: {reason}", *(f"    {line}" for line in _listed(rules))]
    return lines


def _listed(rules: Sequence[str]) -> list[str]:
    """Rules as text; of many only the first ones."""
    most = 12
    more = [f"and {len(rules) - most} more"] if len(rules) > most else []
    return [*rules[:most], *more]
