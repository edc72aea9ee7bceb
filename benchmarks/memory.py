"""Peak memory of a process after the import and after 200 small compilations, beside JAX.

    python benchmarks/memory.py [--peer PYTHON] [--rounds 3] [--write]

Each figure is the largest resident set of a fresh process: after the import, the first operation,
200 functions that have been compiled and called once each; and what one more compilation adds.
With ``--write`` the table goes into its section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import resource
import statistics
import sys
from pathlib import Path
from typing import Any, NamedTuple

import machine
import sections
from first_step import fresh
from peer import peer_python
from targets import against

TARGET = 0.8
COMPILATIONS = 200


class Figures(NamedTuple):
    """Bytes: the peak after the import, after the first operation, after 200 compilations."""

    imported: float
    operation: float
    compiled: float

    @property
    def each(self) -> float:
        """What a compilation adds."""
        return (self.compiled - self.operation) / COMPILATIONS


def peak() -> int:
    """The largest resident set of this process so far, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def measure() -> Figures:
    """The figures of this process."""
    from library import dovetail, jnp

    imported = peak()
    x = jnp.arange(4.0) + 1.0
    dovetail.block_until_ready(x)
    operation = peak()
    kept: list[Any] = []
    for i in range(COMPILATIONS):
        f = dovetail.jit(lambda x, i=i: jnp.sum(jnp.sin(x * i) + jnp.tanh(x)) / (i + 1))
        dovetail.block_until_ready(f(x))
        kept.append(f)
    return Figures(imported, operation, peak())


ROWS = {
    "after the import": lambda f: f.imported,
    "after the first operation": lambda f: f.operation,
    f"after {COMPILATIONS} compilations": lambda f: f.compiled,
    "each compilation": lambda f: f.each,
}


def row(what: str, ours: list[Figures], peer: list[Figures]) -> list[str]:
    """The cells of a line."""
    a, b = ([ROWS[what](f) for f in side] for side in (ours, peer))
    ratio = statistics.median(x / y for x, y in zip(a, b))
    target = TARGET if what in ("after the import", f"after {COMPILATIONS} compilations") else None
    sizes = [_size(statistics.median(side)) for side in (a, b)]
    shown = "" if target is None else f"≤ {target:g}"
    return [what, *sizes, f"{ratio:.2f}", shown, against(ratio, target)]


def _size(count: float) -> str:
    return f"{count / 2**20:.1f} MiB" if count >= 2**20 else f"{count / 2**10:.0f} KiB"


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peer", type=Path, help="an interpreter with JAX")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.measure:
        print(json.dumps(measure()))
        return
    peer, load = a.peer or peer_python(), machine.load()
    ours, theirs = [], []
    for _ in range(a.rounds):
        ours.append(Figures(*fresh(sys.executable, "dovetail", [__file__, "--measure"])))
        theirs.append(Figures(*fresh(peer, "jax", [__file__, "--measure"])))
    lines = [
        "| peak memory | Dovetail | JAX | ratio | target | held |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    lines += [f"| {' | '.join(row(what, ours, theirs))} |" for what in ROWS]
    print(*lines, sep="\n")
    if a.write:
        said = f"Made by `python benchmarks/memory.py --write`; load before the run: {load}."
        sections.write("memory.py", "## Memory of a process", [said, "", *lines])


if __name__ == "__main__":
    main()
