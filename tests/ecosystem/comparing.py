"""Of the tests that pass on genuine JAX, how many pass on Dovetail, and why the others do not."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from pathlib import Path
from typing import NamedTuple

from .libraries import Library
from .results import Tests, keep
from .running import Outcome, Runner


class Comparison(NamedTuple):
    """The tests of one library: what passes on JAX, and what of it does not on Dovetail."""

    library: Library
    passed_there: int
    failed_there: int
    failed: dict[str, Outcome]
    seconds: tuple[float, float]


def compare(library: Library, runner: Runner, root: Path, files: list[str]) -> Comparison:
    """Runs tests on JAX and those that pass there on Dovetail."""
    theirs = runner.outcomes(library, root, files, "jax")
    good: dict[str, list[str]] = defaultdict(list)
    for name, outcome in theirs.items():
        if outcome[0] == "passed":
            good[next(file for file in files if name.startswith(file))].append(name)
    mine = runner.outcomes(library, root, files, "dovetail", good)
    both = [name for names in good.values() for name in names]
    bad = sum(o[0] not in ("passed", "skipped") for o in theirs.values())
    failed = {name: mine[name] for name in both if mine[name][0] != "passed"}
    passed = [name for name in both if name not in failed]
    seconds = tuple(sum(side[name][1] for name in passed) for side in (mine, theirs))
    return Comparison(library, len(both), bad, failed, seconds)


def store(result: Comparison) -> None:
    """Keeps how many tests passed for the page."""
    library, good = result.library, result.passed_there - len(result.failed)
    keep(
        library,
        Tests(
            library.version, good, result.passed_there, result.failed_there, library.every,
            library.suite,
        ),
    )  # fmt: skip


def told_table(c: Comparison) -> str:
    """A line."""
    here, there = c.passed_there - len(c.failed), c.passed_there
    share = 100 * here / there if there else 100.0
    told = f"{here} of {there} ({share:.1f} %); {c.failed_there} fail on JAX itself"
    name = f"{c.library.name} {c.library.version}"
    return f"{name:<34}{told}; {c.seconds[0]:.0f} s, on JAX {c.seconds[1]:.0f} s"


# Addresses, numbers, names, shapes, and places in files with what follows them.
VARYING = re.compile(r" (at|in scope) ['/].*|0x[0-9a-f]+|\d+|'[^']*'|\[[^\]]*\]|\([^)]*\)")


def told_failures(comparison: Comparison, shown: int = 3) -> str:
    """Failing tests by message, the most frequent first, with some of their names."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name, outcome in comparison.failed.items():
        groups[VARYING.sub("_", outcome[2])].append(name)
    lines: list[str] = []
    for names in sorted(groups.values(), key=len, reverse=True):
        outcomes = [comparison.failed[name] for name in names]
        text, place = Counter((o[2], o[3]) for o in outcomes).most_common(1)[0][0]
        lines.append(f"{len(names):5}  {text}  [{outcomes[0][0]}; {place}]")
        lines += [f"         {name}" for name in names[:shown]]
    return "\n".join(lines)
