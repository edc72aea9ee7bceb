"""How soon a second process has its first result, with a warm cache on disk: Dovetail beside JAX.

    python benchmarks/second_process.py [--rounds 7] [--peer PYTHON] [--write]

A first process fills the cache of each side; then processes take turns. Each imports the library,
makes parameters, and asks for the value and gradient of a transformer of 12 blocks: by Dovetail
with `cache="source"` (nothing is traced), by Dovetail (traced and lowered, the executable read),
and by JAX with its own cache. Others import the library and do one operation, without a cache.
Times are from the first line of the program, after the interpreter has started, to the result:
seconds of the clock, and of the processor, which say more on a machine that does other things.
With ``--write`` the table goes into RESULTS.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

HERE = Path(__file__).parent
STAGES = ("import", "parameters", "call", "total")
Figures = dict[str, float]


def child(library: str, mode: str) -> None:
    """One process: print the seconds of each stage, of the clock and of the processor."""
    clock, processor = [time.perf_counter()], [time.process_time()]

    def mark() -> None:
        clock.append(time.perf_counter())
        processor.append(time.process_time())

    lib = __import__(library)
    xnp = __import__(f"{library}.numpy", fromlist=["numpy"])
    if mode == "operation":
        xnp.sin(1.0).block_until_ready()
        mark()
        _print(("total",), [clock[0], clock[1]], [processor[0], processor[1]])
        return
    import numpy as np

    from workloads import gpt_loss, gpt_params

    if library == "jax":
        lib.config.update("jax_compilation_cache_dir", os.environ["CACHE"])
        lib.config.update("jax_persistent_cache_min_compile_time_secs", 0.0)
        lib.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    else:
        lib.config.update("compilation_cache_dir", os.environ["CACHE"])
    mark()
    params = gpt_params(xnp, 12, 64, 128, 32)
    tokens = xnp.asarray(np.random.RandomState(0).randint(0, 128, (2, 32)))
    lib.block_until_ready(params)
    mark()
    how = {"cache": "source"} if mode == "source" else {}
    step = lib.jit(lib.value_and_grad(gpt_loss(lib, xnp)), **how)
    lib.block_until_ready(step(params, tokens))
    mark()
    _print(STAGES, [*clock, clock[0]], [*processor, processor[0]])


def _print(stages: Sequence[str], clock: list[float], processor: list[float]) -> None:
    found: Figures = {}
    for name, times in (("clock", clock), ("processor", processor)):
        for i, stage in enumerate(stages):
            start, end = times[i], times[i + 1]
            if stage == "total":
                start, end = times[0], times[-2] if len(stages) > 1 else times[1]
            found[f"{name} {stage}"] = end - start
    print(json.dumps(found))


def run(python: Path | str, library: str, mode: str, cache: str) -> Figures:
    """The figures of one process."""
    env = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    command = [str(python), str(HERE / "second_process.py"), "--child", library, mode]
    env["CACHE"] = cache
    done = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def measure(peer: Path | str, rounds: int) -> dict[str, list[Figures]]:
    """The figures of all rounds, by kind of process."""
    kinds = {
        "source": (sys.executable, "dovetail"), "traced": (sys.executable, "dovetail"),
        "jax": (peer, "jax"), "operation": (sys.executable, "dovetail"),
        "operation jax": (peer, "jax"),
    }  # fmt: skip
    found: dict[str, list[Figures]] = {kind: [] for kind in kinds}
    with tempfile.TemporaryDirectory() as folder:
        for r in range(rounds + 1):  # the first round fills caches, those of bytecode too
            for kind, (python, library) in kinds.items():
                cache = os.path.join(folder, kind)
                figures = run(python, library, kind.split()[0], cache)
                if r:
                    found[kind].append(figures)
    return found


def table(found: Mapping[str, list[Figures]]) -> list[str]:
    """Markdown: medians in milliseconds, and the medians of the rounds' ratios to JAX."""
    head = "| from the first line of the program | `source` | traced | JAX | ratios | target |"
    lines = [head, "|---|---:|---:|---:|---:|---:|"]

    def median(kind: str, what: str) -> str:
        return f"{1e3 * statistics.median(f[what] for f in found[kind]):.0f}"

    def ratio(kind: str, peer: str, what: str) -> str:
        pairs = zip(found[kind], found[peer])
        return f"{statistics.median(a[what] / b[what] for a, b in pairs):.2f}"

    targets = {"clock total": "150 ms, 0.25", "processor total": "0.25"}
    for unit in ("clock", "processor"):
        for stage in STAGES:
            what = f"{unit} {stage}"
            cells = [median(kind, what) for kind in ("source", "traced", "jax")]
            both = ", ".join(ratio(kind, "jax", what) for kind in ("source", "traced"))
            lines.append(
                f"| {stage}, ms of the {unit} | {' | '.join(cells)} | {both} | "
                f"{targets.get(what, '')} |"
            )
    for unit in ("clock", "processor"):
        what = f"{unit} total"
        cells = [median("operation", what), median("operation jax", what)]
        lines.append(
            f"| import and one operation, ms of the {unit} | | {' | '.join(cells)} | "
            f"{ratio('operation', 'operation jax', what)} | 0.70 |"
        )
    return lines


def main() -> None:
    """Measure and print."""
    if sys.argv[1:2] == ["--child"]:
        child(sys.argv[2], sys.argv[3])
        return
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--peer", help="the interpreter of JAX's environment")
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    a = parser.parse_args()
    import machine
    import sections
    from peer import peer_python

    load = machine.load()
    peer = Path(a.peer) if a.peer else peer_python()
    lines = [
        f"Made by `python benchmarks/second_process.py --rounds {a.rounds}`; load before: {load}.",
        "", *table(measure(peer, a.rounds)),
    ]  # fmt: skip
    print(*lines, sep="\n")
    if a.write:
        sections.write("second_process.py", "## The second process", lines)


if __name__ == "__main__":
    main()
