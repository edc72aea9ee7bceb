"""What stays in memory after a call whose function is new each time: Dovetail beside JAX.

    python benchmarks/leaks.py --peer PYTHON [--calls 150] [--only PATTERN ...] [--write]

PYTHON is the interpreter of an environment with JAX. Each pattern runs in a process of its own on
each side: as many calls warm up as are measured, with ten readings. RSS per call is the median
slope between readings (garbage is collected and freed memory given back before each; one arena of
the C library), and so are live objects. Then ``clear_caches()``, and the user's own objects are
counted that still live.
With ``--write`` the table goes into its section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import ctypes
import gc
import importlib
import json
import os
import statistics
import subprocess
import sys
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple

import sections

READINGS = 10
MORE = 1024.0
"""Bytes a call by which RSS may grow more than JAX's."""


class Reading(NamedTuple):
    """The state of a process after some calls."""

    calls: int
    rss: int
    objects: int


class Figures(NamedTuple):
    """What one pattern leaves behind in one library."""

    rss: float
    objects: float
    milliseconds: float
    kept: int
    after: int


def reading(calls: int) -> Reading:
    """Now, when garbage has been collected and freed memory given back."""
    for _ in range(3):
        gc.collect()
    ctypes.CDLL("libc.so.6").malloc_trim(0)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Reading(calls, pages * os.sysconf("SC_PAGE_SIZE"), len(gc.get_objects()))


def run(lib: str, name: str, calls: int) -> Figures:
    """Make the calls of a pattern here, and watch."""
    from leak_patterns import PATTERNS

    jax = importlib.import_module(lib)
    step: Callable[[int], Any] = PATTERNS[name](jax)
    watched: list[weakref.ref[Any]] = []
    for i in range(calls):
        step(i)
    found = [reading(0)]
    each, seconds = max(1, calls // READINGS), 0.0
    for k in range(READINGS):
        begin = time.perf_counter()
        for i in range(each):
            made = step(calls + k * each + i)
            watched += [weakref.ref(x) for x in made]
        del made
        seconds += time.perf_counter() - begin
        found.append(reading((k + 1) * each))
        watched = [r for r in watched if r() is not None]
    kept = len(watched)
    jax.clear_caches()
    gc.collect()
    after = sum(r() is not None for r in watched)
    rss, objects = (_slope(found, what) for what in ("rss", "objects"))
    return Figures(rss, objects, seconds / (READINGS * each) * 1e3, kept, after)


def _slope(found: list[Reading], what: str) -> float:
    pairs = [(a, b) for i, a in enumerate(found) for b in found[i + 1 :]]
    slopes = [(getattr(b, what) - getattr(a, what)) / (b.calls - a.calls) for a, b in pairs]
    return statistics.median(slopes)


def elsewhere(python: str | Path, lib: str, name: str, calls: int) -> Figures:
    """:func:`run` in a process of its own."""
    command = [python, __file__, "--lib", lib, "--only", name, "--calls", str(calls)]
    # One arena: what the C library does not give back of several is not kept by anybody.
    more = {"TF_CPP_MIN_LOG_LEVEL": "3", "JAX_PLATFORMS": "cpu", "MALLOC_ARENA_MAX": "1"}
    env = os.environ | more
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
    if done.returncode:
        raise SystemExit(f"{name} with {lib}: {done.stderr}")
    return Figures(*json.loads(done.stdout.splitlines()[-1]))


HEAD = ("pattern", "kB", "JAX", "objects", "JAX", "ms", "JAX", "kept", "JAX", "cleared", "JAX")


def row(name: str, ours: Figures, theirs: Figures) -> tuple[str, ...]:
    """A line of the table."""
    cells = [name]
    for a, b in zip(ours._replace(rss=ours.rss / 1024), theirs._replace(rss=theirs.rss / 1024)):
        cells += [
            str(x) if isinstance(x, int) else f"{x:.1f}".replace("-0.0", "0.0") for x in (a, b)
        ]
    return tuple(cells)


def markdown(rows: list[tuple[str, ...]]) -> str:
    """The table."""
    widths = [max(map(len, column)) for column in zip(HEAD, *rows)]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(r, widths)) + " |" for r in (HEAD, *rows)]
    return "\n".join([lines[0], "|" + "|".join("-" * (w + 2) for w in widths) + "|", *lines[1:]])


def main() -> int:
    """Measure, print the table, and say whether any pattern keeps more than JAX."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--peer", type=Path)
    parser.add_argument("--calls", type=int, default=150)
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--lib", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.lib:
        print(json.dumps(run(args.lib, args.only[0], args.calls)))
        return 0
    from leak_patterns import PATTERNS

    if unknown := set(args.only or ()) - set(PATTERNS):
        parser.error(f"no patterns: {sorted(unknown)}. There are {list(PATTERNS)}")
    rows: list[tuple[str, ...]] = []
    worse: list[str] = []
    for name in args.only or PATTERNS:
        with ThreadPoolExecutor() as pool:
            mine = pool.submit(elsewhere, sys.executable, "dovetail", name, args.calls)
            theirs = elsewhere(args.peer, "jax", name, args.calls)
        ours = mine.result()
        rows.append(row(name, ours, theirs))
        print(" | ".join(rows[-1]), flush=True)
        if ours.rss > theirs.rss + MORE or ours.after:
            worse.append(name)
    table = markdown(rows)
    print(table)
    if args.write:
        lines = [f"{args.calls} calls of each pattern.", "", table]
        sections.write("leaks.py", "## Leaks", lines)
    print(f"more than JAX, or alive after clear_caches(): {', '.join(worse) or 'none'}")
    return len(worse) > 0


if __name__ == "__main__":
    sys.exit(main())
