"""Measure the kernels of dovetail-cpu-kernels against XLA's code, over sizes, with NumPy beside.

    python benchmarks/cpu_kernels.py [--largest 1e7] [--only sort cumsum] [--svg FILE]

Both programs run in one process, in turn; of each the least time counts. A line per size says the
time with kernels, its ratio to XLA's and to NumPy's, and whether there is a kernel at that size.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dovetail
from dovetail import lax, numpy as dnp, random
from dovetail_cpu_kernels import cpu_kernels

BUDGET = 0.5
"""Seconds for a size, if three rounds take no longer."""


class Case(NamedTuple):
    """Work of a size: arguments, what Dovetail does, and what NumPy does."""

    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    ours: Callable[..., Any]
    numpys: Callable[..., Any]


class Row(NamedTuple):
    """Seconds that a size took."""

    size: int
    kernels: float
    xla: float
    numpy: float
    has_kernel: bool


def _floats(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.standard_normal(n).astype(np.float32),)


def _integers(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.integers(0, max(n // 10, 1), n).astype(np.int32),)


def _matrices(rows: int) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        x = rng.standard_normal((max(n // rows**2, 1), rows, rows)).astype(np.float32)
        return (x @ x.swapaxes(-1, -2) + np.eye(rows, dtype=np.float32),)

    return make


def _few(x: Any) -> int:
    return min(32, x.shape[0])


def _solve(x: Any) -> Any:
    return dnp.linalg.solve(x, x[..., :1])


def _numpy_solve(x: Any) -> Any:
    return np.linalg.solve(x, x[..., :1])


CASES = {
    "sort": Case(_floats, dnp.sort, np.sort),
    "argsort": Case(_floats, dnp.argsort, lambda x: np.argsort(x, kind="stable")),
    "top_k, k = 32": Case(
        _floats, lambda x: lax.top_k(x, _few(x)), lambda x: np.partition(x, -_few(x))[-_few(x) :]
    ),
    "median": Case(_floats, dnp.median, np.median),
    "unique": Case(_integers, lambda x: dnp.unique(x, size=x.shape[0]), np.unique),
    "permutation": Case(
        _floats,
        lambda x: random.permutation(random.key(0), x),
        np.random.default_rng(0).permutation,
    ),
    "cumsum": Case(_floats, dnp.cumsum, np.cumsum),
    "cummax": Case(_floats, lambda x: lax.cummax(x), np.maximum.accumulate),
    "Cholesky, 4x4": Case(_matrices(4), dnp.linalg.cholesky, np.linalg.cholesky),
    "Cholesky, 16x16": Case(_matrices(16), dnp.linalg.cholesky, np.linalg.cholesky),
    "LU, 4x4": Case(_matrices(4), lambda x: lax.linalg.lu(x), np.linalg.det),
    "LU, 16x16": Case(_matrices(16), lambda x: lax.linalg.lu(x), np.linalg.det),
    "solve, 4x4": Case(_matrices(4), _solve, _numpy_solve),
    "solve, 16x16": Case(_matrices(16), _solve, _numpy_solve),
}
"""NumPy has no LU factorization: it computes determinants, which take one."""


def sizes(largest: float) -> Iterator[int]:
    """1, 3, 10, 30, ... up to the largest."""
    n = 1
    while n <= largest:
        yield from (m for m in (n, 3 * n) if m <= largest)
        n *= 10


def measure(case: Case, n: int) -> Row:
    """The least seconds of each of the three, run in turn."""
    arguments = case.arguments(np.random.default_rng(n), n)
    given = [dovetail.device_put(x) for x in arguments]
    programs: list[Callable[[], Any]] = []
    texts: list[str] = []
    for used in (True, False):
        with cpu_kernels(used):
            lowered = dovetail.jit(lambda *xs: case.ours(*xs)).lower(*given)
            texts.append(lowered.as_text())
            program = lowered.compile()
            programs.append(lambda p=program: dovetail.block_until_ready(p(*given)))
    programs.append(lambda: case.numpys(*arguments))
    best = [_seconds(p, 1) for p in programs]  # the first calls are slow, and are not counted
    repeats = [max(1, int(3e-4 / t)) for t in best]
    best, end, rounds = [np.inf] * 3, time.perf_counter() + BUDGET, 0
    while rounds < 3 or time.perf_counter() < end:
        # What runs after NumPy shares the processor with its threads, which wait for more.
        for i in (0, 1, 2) if rounds % 2 else (1, 0, 2):
            best[i] = min(best[i], _seconds(programs[i], repeats[i]))
        rounds += 1
    return Row(n, best[0], best[1], best[2], "dovetail_cpu_" in texts[0])


def _seconds(program: Callable[[], Any], repeats: int) -> float:
    start = time.perf_counter()
    for _ in range(repeats):
        program()
    return (time.perf_counter() - start) / repeats


def draw(results: dict[str, list[Row]], path: str) -> None:
    """A picture per kernel: the ratio over the size, to XLA and to NumPy."""
    import matplotlib

    matplotlib.use("svg")
    matplotlib.rcParams |= {"svg.hashsalt": "cpu_kernels", "svg.fonttype": "none"}
    import matplotlib.pyplot as plt

    columns = 4
    rows = -(-len(results) // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(11, 2.2 * rows), sharex=True, sharey=True, layout="constrained"
    )
    for axis, (name, found) in zip(axes.flat, results.items()):
        n = [r.size for r in found]
        axis.axhline(1, color="0.6", linewidth=0.8)
        axis.loglog(n, [r.kernels / r.xla for r in found], color="C0", label="to XLA's own code")
        axis.loglog(n, [r.kernels / r.numpy for r in found], "--", color="C1", label="to NumPy")
        used = [r for r in found if r.has_kernel]
        axis.loglog([r.size for r in used], [r.kernels / r.xla for r in used], ".", color="C0")
        axis.set_title(name, fontsize=9)
        axis.set_ylim(0.01, 30)
        axis.minorticks_off()
        axis.tick_params(labelsize=8)
    for axis in axes.flat[len(results) :]:
        axis.set_axis_off()
    axes.flat[0].legend(fontsize=7, loc="upper right")
    figure.supxlabel("elements", fontsize=9)
    figure.supylabel("time with kernels, as a ratio (dots: there is a kernel)", fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def main() -> int:
    """Print the table, and draw it where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--svg", help="where to draw the picture")
    parser.add_argument("--json", help="where to keep the numbers, or from where to draw them")
    args = parser.parse_args()
    kept = Path(args.json) if args.json else None
    if kept is not None and kept.exists():
        found = json.loads(kept.read_text())
        results = {name: [Row(*r) for r in rows] for name, rows in found.items()}
    else:
        results = dict[str, list[Row]]()
        for name in args.only:
            print(f"\n{name}\n{'elements':>10} {'us':>11} {'to XLA':>8} {'to NumPy':>9}")
            for n in sizes(args.largest):
                row = measure(CASES[name], n)
                results.setdefault(name, []).append(row)
                us, mark = row.kernels * 1e6, "" if row.has_kernel else "  no kernel"
                ratios = f"{row.kernels / row.xla:8.3f} {row.kernels / row.numpy:9.3f}"
                print(f"{n:>10} {us:11.1f} {ratios}{mark}", flush=True)
        if kept is not None:
            kept.write_text(json.dumps(results))
    if args.svg:
        draw(results, args.svg)
    return 0


if __name__ == "__main__":
    sys.exit(main())
