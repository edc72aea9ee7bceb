"""Measure Dovetail against JAX on the same work, both in turn on this machine.

    python benchmarks/run.py [--rounds 3] [--only trace dispatch] [--write]

Makes the peer's environment (peer.py) where it is missing, runs compare.py and plugins_200.py, and
holds each figure against targets.py. With ``--write`` the table goes into RESULTS.md; what is
written below its end marker stays.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path

import machine
import targets
from peer import ROOT, peer_python as peer_python
from targets import Row

HERE = Path(__file__).parent
OUT = ROOT / "build" / "bench"
RESULTS = HERE / "RESULTS.md"
BEGIN = "<!-- begin: written by benchmarks/run.py -->"
END = "<!-- end: what follows is written by hand and kept -->"
GROUPS = ["cold", "dispatch", "trace", "lower", "first_step", "eager_grad", "scaling", "run"]
HEAD = """\
# Benchmarks

Dovetail and JAX run the same workloads (`workloads.py`), each in a process of its own, in turn. A
time is the median over the rounds; a ratio is Dovetail's time as a share of JAX's, the median of
the rounds' ratios. Below 1, Dovetail is faster. Absolute times are this machine's; compare ratios.
"""


def compare(peer: Path, rounds: int, only: list[str]) -> tuple[targets.Samples, targets.Samples]:
    """The samples of both libraries, as compare.py takes them in turn."""
    file = OUT / "compare.json"
    command = [sys.executable, HERE / "compare.py", "--rounds", str(rounds), "--json", file]
    sides = ["--a", f"{sys.executable} dovetail", "--b", f"{peer} jax"]
    subprocess.run([*command, *sides, "--only", *only], check=True)
    found = json.loads(file.read_text())
    return found["a"], found["b"]


def startup() -> dict[str, float]:
    """What 200 plugins add to start-up."""
    file = OUT / "plugins.json"
    subprocess.run([sys.executable, HERE / "plugins_200.py", "--json", file], check=True)
    return json.loads(file.read_text())


def markdown(rows: list[Row]) -> list[str]:
    """The rows as a table that also reads well as plain text."""
    table = [Row("workload", "Dovetail", "JAX", "ratio", "target", "held"), *rows]
    widths = [max(len(cell) for cell in column) for column in zip(*table)]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths)) + " |" for row in table]
    rule = "|" + "|".join("-" * (w + 2) for w in widths) + "|"
    return [lines[0], rule, *lines[1:]]


def report(rows: list[Row], peer: Path, load: str) -> list[str]:
    """What was run on what, the table, and how much of it holds."""
    held = [r for r in rows if r.verdict == "pass"]
    missed = [r for r in rows if r.verdict == "FAIL"]
    verdict = f"{len(held)} of {len(held) + len(missed)} targets are met."
    if missed:
        verdict += " Missed: " + ", ".join(f"`{r.name}`" for r in missed) + "."
    facts = [f"- {what}: {value}" for what, value in machine.facts(Path(sys.executable), peer)]
    facts.append(f"- load before the run: {load}")
    return [*facts, "", verdict, "", *markdown(rows)]


def write(lines: list[str], command: str) -> None:
    """Put the report into RESULTS.md between the markers; keep what a person wrote below."""
    old = RESULTS.read_text() if RESULTS.exists() else ""
    below = old.split(END, 1)[1] if END in old else "\n"
    body = ["", f"Made by `{command}`.", "", *lines, "", ""]
    RESULTS.write_text(HEAD + "\n" + BEGIN + "\n".join(["", *body]) + END + below)
    print(f"wrote {RESULTS.relative_to(ROOT)}")


def main() -> None:
    """Measure what was asked for and print the table."""
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", nargs="*", default=[*GROUPS, "startup"], metavar="GROUP")
    parser.add_argument("--write", action="store_true", help="renew benchmarks/RESULTS.md")
    args = parser.parse_args()
    OUT.mkdir(parents=True, exist_ok=True)
    peer, load = peer_python(), machine.load()
    rows: list[Row] = []
    groups = [group for group in args.only if group != "startup"]
    if groups:
        ours, theirs = compare(peer, args.rounds, groups)
        rows += targets.ratio_rows(ours, theirs)
        rows += targets.growth_rows(ours)
        rows += targets.order_rows(ours)
    if "startup" in args.only:
        rows += targets.startup_rows(startup())
    lines = report(rows, peer, load)
    print("\n".join(lines))
    if args.write:
        write(lines, f'make bench BENCH="{" ".join(sys.argv[1:])}"')


if __name__ == "__main__":
    main()
