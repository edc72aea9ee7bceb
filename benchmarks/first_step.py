"""The first step of a program, from an empty process, beside JAX.

    python benchmarks/first_step.py [--peer PYTHON] [--only NAME ...] [--rounds 5] [--write]
    python benchmarks/first_step.py --set DOVETAIL_TIERED=off        # for our side alone

Each program of compile_programs.py that has a target runs in a fresh process of each library, in
turn, with no cache on disk. From after the imports and the making of the arguments to the first
result: seconds of the clock (``XLA``: those in XLA's compiler), and of the processor. Then the
least time of a later step. ``with imports`` is the ratio of imports and first step together, as
Dovetail imports most of itself when it is used. Times are medians over the rounds, ratios the
medians of the rounds' ratios. With ``--write`` the table goes into its section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import machine
import sections
from peer import ROOT, peer_python
from targets import against, seconds

TARGETS = {
    "gpt4": 0.25, "gpt12": 0.25, "gpt48": 0.15, "resnet_16": 0.35, "lstm_50": 0.35,
    "adam_300": 0.35, "log_density": 0.35, "twenty_tiny": 0.35,
}  # fmt: skip
"""The largest first step, as a share of JAX's."""
STEADY = 1.0
"""The largest later step, as a share of JAX's."""
CALLED_AS_IT_IS = ("twenty_tiny",)
"""Programs that compile their parts by themselves."""
COMPILE = "/jax/core/compile/backend_compile_duration"
LONGEST = 60.0
"""Seconds for which later steps are timed, at most."""


class Figures(NamedTuple):
    """Seconds: of the first step, of it in XLA's compiler, of the processor; of a later step; of
    the imports."""

    first: float
    xla: float
    cpu: float
    step: float
    imports: float


def measure(name: str) -> Figures:
    """The figures of a program in this process, which has run nothing yet."""
    imports = time.perf_counter()
    from compile_programs import MORE, PROGRAMS
    from library import dovetail

    imports = time.perf_counter() - imports
    spent: list[float] = []

    def hear(event: str, duration: float, **_: Any) -> None:
        if event == COMPILE:
            spent.append(duration)

    f, args = {**PROGRAMS, **MORE}[name]()
    dovetail.block_until_ready(args)
    dovetail.monitoring.register_event_duration_secs_listener(hear)
    step = f if name in CALLED_AS_IT_IS else dovetail.jit(lambda *args: f(*args))
    cpu, wall = time.process_time(), time.perf_counter()
    dovetail.block_until_ready(step(*args))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    xla = sum(spent)
    later = least(lambda: dovetail.block_until_ready(step(*args)), wall)
    return Figures(wall, xla, cpu, later, imports)


def least(step: Callable[[], Any], first: float) -> float:
    """The least mean time of a series of calls; series go on while they become shorter, for twice
    as long as the first call took: a better program may take the place of the first one."""
    patience = 5.0 if os.environ.get("DOVETAIL_TIERED", "off") != "off" else 0.5
    patience = max(patience, 2 * first)
    begin = improved = time.perf_counter()
    found, count = float("inf"), 1
    while (now := time.perf_counter()) - improved < patience and now - begin < LONGEST:
        for _ in range(count):
            step()
        end = time.perf_counter()
        mean = (end - now) / count
        if mean < 0.95 * found:
            improved = end
        found = min(found, mean)
        count = max(1, min(10_000, int(0.05 / found)))
    return found


def fresh(
    python: str | Path, library: str, arguments: list[str], more: Mapping[str, str] | None = None
) -> Any:
    """What a fresh process prints last, as JSON. Its modules are compiled to bytecode, as those of
    an installed package are: a script of benchmarks runs once before it is measured."""
    clean = {k: v for k, v in os.environ.items() if not k.startswith(("DOVETAIL_", "JAX_", "XLA_"))}
    clean.pop("PYTHONDONTWRITEBYTECODE", None)
    environment = {
        **clean, "BENCHMARK_LIBRARY": library, "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPYCACHEPREFIX": str(ROOT / "build" / "bench" / "bytecode"), **(more or {}),
    }  # fmt: skip

    def run() -> Any:
        done = subprocess.run(
            [python, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            said = f"{' '.join(arguments)} with {library} failed:\n{done.stderr[-2000:]}"
            raise SystemExit(said)
        return json.loads(done.stdout.splitlines()[-1])

    if (library, *arguments) not in _have_bytecode:
        _have_bytecode.add((library, *arguments))
        run()
    return run()


_have_bytecode: set[tuple[str, ...]] = set()


def one(python: str | Path, library: str, name: str, more: Mapping[str, str]) -> Figures:
    """The figures of a program in a fresh process."""
    return Figures(*fresh(python, library, [__file__, "--measure", name], more))


Pair = tuple[Figures, Figures]


def rounds_of(name: str, peer: str | Path, rounds: int, more: Mapping[str, str]) -> list[Pair]:
    """A pair of figures, ours and the peer's, for each round; who is first takes turns."""
    found: list[Pair] = []
    for r in range(rounds):
        sides: dict[str, Callable[[], Figures]] = {
            "ours": lambda: one(sys.executable, "dovetail", name, more),
            "peer": lambda: one(peer, "jax", name, {}),
        }
        order = sides if r % 2 == 0 else reversed(sides)
        made = {side: sides[side]() for side in order}
        found.append((made["ours"], made["peer"]))
    return found


def row(name: str, pairs: list[Pair]) -> list[str]:
    """The cells of a line."""
    ours, peer = (Figures(*map(statistics.median, zip(*side))) for side in zip(*pairs))
    first = statistics.median(a.first / b.first for a, b in pairs)
    cpu = statistics.median(a.cpu / b.cpu for a, b in pairs)
    step = statistics.median(a.step / b.step for a, b in pairs)
    whole = statistics.median((a.imports + a.first) / (b.imports + b.first) for a, b in pairs)
    return [
        name, *(f"{seconds(x.first)} ({seconds(x.xla)})" for x in (ours, peer)), f"{first:.2f}",
        f"≤ {TARGETS[name]:g}", against(first, TARGETS[name]),
        *(seconds(x.cpu) for x in (ours, peer)), f"{cpu:.2f}",
        f"{whole:.2f}",
        *(seconds(x.step) for x in (ours, peer)), f"{step:.2f}", against(step, STEADY),
    ]  # fmt: skip


HEAD = [
    "program", "Dovetail (XLA)", "JAX (XLA)", "ratio", "target", "held", "processor", "JAX",
    "ratio", "with imports", "step", "JAX", f"ratio, ≤ {STEADY:g}", "held",
]  # fmt: skip


def main() -> None:
    """Measure what was asked for and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peer", type=Path, help="an interpreter with JAX")
    parser.add_argument("--only", nargs="*", choices=list(TARGETS), default=list(TARGETS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--set", nargs="*", default=[], metavar="NAME=VALUE", help="environment")
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--measure", help=argparse.SUPPRESS)
    a = parser.parse_args()
    if a.measure:
        print(json.dumps(measure(a.measure)))
        return
    peer, load = a.peer or peer_python(), machine.load()
    more = dict(text.split("=", 1) for text in a.set)
    lines = [f"| {' | '.join(HEAD)} |", f"|---{'|---:' * (len(HEAD) - 1)}|"]
    print(*lines, sep="\n")
    for name in a.only:
        lines.append(f"| {' | '.join(row(name, rounds_of(name, peer, a.rounds, more)))} |")
        print(lines[-1], flush=True)
    if a.write:
        given = "".join(f" --set {text}" for text in a.set)
        command = f"python benchmarks/first_step.py --rounds {a.rounds}{given}"
        said = f"Made by `{command}`; load before the run: {load}."
        sections.write("first_step.py", "## The first step of a program", [said, "", *lines])


if __name__ == "__main__":
    main()
