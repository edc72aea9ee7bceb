"""Which of XLA's CPU options pay: compile time and time per call of many kinds of programs.

    python benchmarks/compile_options.py [--programs NAME ...] [--options NAME ...] [--rounds 3]
    python benchmarks/compile_options.py --write        # and the table in RESULTS.md

Each program of compile_programs.py is compiled with each set of options, in turn with the default
one. The figures are ratios to the default options of the smallest of all rounds: seconds of the
processor and of the clock to compile, and the time of a call.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import dovetail
import sections
from compile_programs import PROGRAMS

OPTIONS: dict[str, dict[str, Any]] = {
    "default": {"xla_cpu_use_fusion_emitters": True},
    "no_library": {"xla_cpu_experimental_ynn_fusion_type": ""},
    "library_reductions": {"xla_cpu_experimental_ynn_fusion_type": "LIBRARY_FUSION_TYPE_REDUCE"},
    "fast_compile": {"xla_cpu_opt_preset": "CPU_OPT_PRESET_FAST_COMPILE"},
    "no_emitters": {"xla_cpu_use_fusion_emitters": False},
    "chosen": {},  # what Dovetail makes of the program
    "level_2": {"xla_backend_optimization_level": 2},
    "level_1": {"xla_backend_optimization_level": 1},
    "level_0": {"xla_backend_optimization_level": 0},
    "cheap_llvm": {"xla_llvm_disable_expensive_passes": True},
    "quick": {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 0},
    "quick_1": {"xla_cpu_use_fusion_emitters": False, "xla_backend_optimization_level": 1},
    "narrow": {"xla_cpu_prefer_vector_width": 128},
    "one_part": {"xla_cpu_parallel_codegen_split_count": 1},
}


class Figures(NamedTuple):
    """The least seconds: to compile, of the processor and of the clock, and for a call."""

    cpu: float
    wall: float
    call: float


def compiled(f: Callable[..., Any], args: Any, options: Mapping[str, Any]) -> tuple[Any, Figures]:
    """The compiled function, and how long XLA took."""
    dovetail.clear_caches()
    lowered = dovetail.jit(lambda *args: f(*args)).lower(*args)
    cpu, wall = time.process_time(), time.perf_counter()
    made = lowered.compile(options)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return made, Figures(cpu, wall, float("inf"))


def call_time(f: Callable[..., Any], args: Any, least: float = 0.05) -> float:
    """The least time of a call in three runs of at least ``least`` seconds."""
    dovetail.block_until_ready(f(*args))
    start = time.perf_counter()
    dovetail.block_until_ready(f(*args))
    count = max(1, min(10_000, int(least / (time.perf_counter() - start))))
    found = []
    for _ in range(3):
        start = time.perf_counter()
        for _ in range(count):
            out = f(*args)
        dovetail.block_until_ready(out)
        found.append((time.perf_counter() - start) / count)
    return min(found)


def measure(name: str, options: Sequence[str], rounds: int) -> dict[str, Figures]:
    """The figures of a program for each set of options, which take turns."""
    f, args = PROGRAMS[name]()
    made, found = dict[str, Any](), dict[str, Figures]()
    for r in range(rounds):
        for o in options if r % 2 == 0 else reversed(options):
            made[o], new = compiled(f, args, OPTIONS[o])
            found[o] = Figures(*map(min, zip(found.get(o, new), new)))
    for r in range(rounds):
        for o in options if r % 2 == 0 else reversed(options):
            found[o] = found[o]._replace(call=min(found[o].call, call_time(made[o], args)))
    return found


def table(found: Mapping[str, Mapping[str, Figures]], options: Sequence[str]) -> list[str]:
    """Markdown: a line for each program."""
    others = [o for o in options if o != "default"]
    head = ["program", "compile (s)", "call (ms)", *(f"{o}: compile, call" for o in others)]
    lines = [f"| {' | '.join(head)} |", f"|---{'|---:' * (len(head) - 1)}|"]
    for name, figures in found.items():
        base = figures["default"]
        cells = [f"{base.cpu:.3f}", f"{base.call * 1e3:.3f}"]
        for o in others:
            cells.append(f"{figures[o].cpu / base.cpu:.2f}, {figures[o].call / base.call:.2f}")
        lines.append(f"| {name} | {' | '.join(cells)} |")
    medians = []
    for o in others:
        pairs = [
            (f[o].cpu / f["default"].cpu, f[o].call / f["default"].call) for f in found.values()
        ]
        medians.append(", ".join(f"{statistics.median(x):.2f}" for x in zip(*pairs)))
    return [*lines, f"| **median** | | | {' | '.join(medians)} |"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--programs", nargs="*", choices=list(PROGRAMS), default=list(PROGRAMS))
    some = ["chosen", "no_emitters", "level_2", "quick"]
    parser.add_argument("--options", nargs="*", choices=list(OPTIONS), default=some)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    a = parser.parse_args()
    options = ["default", *(o for o in a.options if o != "default")]
    found = {}
    for name in a.programs:
        found[name] = measure(name, options, a.rounds)
        print(*table({name: found[name]}, options)[2:3], flush=True)
    lines = table(found, options)
    print(*lines, sep="\n")
    if a.write:
        sections.write("compile_options.py", "## Options of XLA's CPU compiler", lines)


if __name__ == "__main__":
    main()
