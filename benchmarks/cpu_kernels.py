"""Measure the kernels of dovetail-cpu-kernels against XLA's code, over sizes.

    python benchmarks/cpu_kernels.py [--largest 1e7] [--only sort cumsum] [--svg FILE] [--write]
                                     [--torch PYTHON]

Both programs run in one process, in turn; of each the least time counts. A line per size says the
time with kernels, its ratios to XLA's, to NumPy's and to PyTorch's, which an interpreter with
PyTorch measures (``--torch``; this one, where it has it). Where XLA is given the same with kernels
and without, it is measured once, and the ratio is 1. Random numbers, for which XLA is told how wide
vectors are to be, are measured beside XLA's own width. A size at which the kernel seems slower is
measured again, up to three times. What takes long runs once: all takes less than 15 minutes on an
idle machine of four cores. With ``--write`` a table goes into its section of RESULTS.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import math
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import dovetail
import run
import sections
from dovetail import lax, numpy as dnp, random
from dovetail_backends.cpu_rules import draws
from dovetail_backends.pjrt.facts import facts_of_text
from dovetail_cpu_kernels import cpu_kernels
from kernels_torch import FIRST, LAST, Torch
from least import Program, least

SLOWER = 1.05
"""The largest ratio that is wanted anywhere."""
XLAS_WIDTH: Mapping[str, Any] = {"xla_cpu_prefer_vector_width": 256}


class Case(NamedTuple):
    """Work of a size: arguments, what Dovetail does, and what NumPy does; see kernels_torch.py."""

    arguments: Callable[[np.random.Generator, int], tuple[Any, ...]]
    ours: Callable[..., Any]
    numpys: Callable[..., Any]
    largest: float = 1e7
    """The size above which XLA's own code takes too long."""
    options: Mapping[str, Any] = {}
    """XLA's own, if there are others of Dovetail's."""


class Row(NamedTuple):
    """Seconds that a size took; PyTorch's where it is installed."""

    size: int
    kernels: float
    xla: float
    numpy: float
    has_kernel: bool
    torch: float | None = None


def _floats(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.standard_normal(n).astype(np.float32),)


def _integers(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (rng.integers(0, max(n // 10, 1), n).astype(np.int32),)


def _matrices(rows: int) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        x = rng.standard_normal((max(n // rows**2, 1), rows, rows)).astype(np.float32)
        return (x @ x.swapaxes(-1, -2) + np.eye(rows, dtype=np.float32),)

    return make


def _scattered(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    places = rng.integers(0, 1000, n).astype(np.int32)
    return (np.zeros(1000, np.float32), places, *_floats(rng, n))


def _rows_of(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    """Places in a table of 10,000 rows of 32 numbers."""
    places = rng.integers(0, 10_000, max(n // 32, 1)).astype(np.int32)
    return (rng.standard_normal((10_000, 32)).astype(np.float32), places)


def _numpy_scatter(x: Any, places: Any, updates: Any) -> Any:
    return x + np.bincount(places, updates, x.shape[0])


def _few(x: Any) -> int:
    return min(32, x.shape[0])


def _solve(x: Any) -> Any:
    return dnp.linalg.solve(x, x[..., :1])


def _numpy_solve(x: Any) -> Any:
    return np.linalg.solve(x, x[..., :1])


def _square(dtype: Any) -> Callable[[np.random.Generator, int], tuple[Any, ...]]:
    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        rows = max(math.isqrt(n), 1)
        return ((rng.standard_normal((rows, rows)) * 40).astype(dtype),)

    return make


def _images(
    layout: str, channels: int = 32, grouped: bool = True
) -> Callable[..., tuple[Any, ...]]:
    """Images of n elements together, which have 28 rows and columns where they are as many, kernels
    of 3 by 3 of each channel or of all, and as much as the result of their convolution has."""
    features = 1 if grouped else channels

    def make(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
        size = min(max(math.isqrt(n // channels), 1), 28)
        count = max(n // (channels * size**2), 1)
        if layout == "NHWC":
            x, kernel = (count, size, size, channels), (3, 3, features, channels)
        else:
            x, kernel = (count, channels, size, size), (channels, features, 3, 3)
        return tuple(rng.standard_normal(s).astype(np.float32) for s in (x, kernel, x))

    return make


def _by_channel(layout: str) -> Callable[..., Any]:
    numbers = (layout, "HWIO" if layout == "NHWC" else "OIHW", layout)

    def conv(x: Any, kernel: Any, _: Any) -> Any:
        features = kernel.shape[2 if layout == LAST else 1]
        groups = x.shape[layout.index("C")] // features
        return lax.conv_general_dilated(
            x, kernel, (1, 1), "SAME", dimension_numbers=numbers, feature_group_count=groups
        )

    return conv


def _kernel_of(conv: Callable[..., Any]) -> Callable[..., Any]:
    """The derivative of a convolution by its kernel."""

    def derivative(x: Any, kernel: Any, out: Any) -> Any:
        return dovetail.vjp(lambda k: conv(x, k, out), kernel)[1](out)[0]

    return derivative


def _windows(x: Any, layout: str) -> Any:
    axes = (layout.index("H"), layout.index("W"))
    padded = np.pad(x, [(1, 1) if i in axes else (0, 0) for i in range(4)])
    windows: Any = np.lib.stride_tricks.sliding_window_view
    return windows(padded, (3, 3), axes)


def _numpy_conv(x: Any, kernel: Any, _: Any) -> Any:
    if kernel.shape[:2] == (3, 3) and kernel.shape[2] > 1:
        return np.einsum("nhwcij,ijco->nhwo", _windows(x, LAST), kernel, optimize=True)
    if kernel.shape[:2] == (3, 3):
        return np.einsum("nhwcij,ijc->nhwc", _windows(x, LAST), kernel[:, :, 0])
    if kernel.shape[1] > 1:
        return np.einsum("nchwij,ocij->nohw", _windows(x, FIRST), kernel, optimize=True)
    return np.einsum("nchwij,cij->nchw", _windows(x, FIRST), kernel[:, 0])


def _numpy_kernel(x: Any, _: Any, out: Any) -> Any:
    return np.einsum("nhwcij,nhwc->ijc", _windows(x, "NHWC"), out)


def _pairs(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (*_integers(rng, n), *_floats(rng, n))


def _line(rng: np.random.Generator, n: int) -> tuple[Any, ...]:
    return (*_floats(rng, n), *_floats(rng, min(n, 30)))


def _product(x: Any) -> Any:
    return x @ x


def _sum_of_rows(x: Any) -> Any:
    """What a derivative by weights is, summed along the first axes of both operands."""
    return lax.dot_general(x, x, (((0,), (0,)), ((), ())))


def _numpy_product(x: Any) -> Any:
    y = x.astype(np.float32) if x.dtype == dnp.bfloat16 else x
    return y @ y


LU = lambda x: lax.linalg.lu(x)  # noqa: E731
CASES = {
    "sort": Case(_floats, dnp.sort, np.sort),
    "argsort": Case(_floats, dnp.argsort, lambda x: np.argsort(x, kind="stable")),
    "lexsort, 2 keys": Case(
        _pairs, lambda x, y: dnp.lexsort((y, x)), lambda x, y: np.lexsort((y, x))
    ),
    "top_k, k = 32": Case(
        _floats,
        lambda x: lax.top_k(x, _few(x)),
        lambda x: np.partition(x, -_few(x))[-_few(x) :],
    ),
    "median": Case(_floats, dnp.median, np.median),
    "percentile": Case(_floats, lambda x: dnp.percentile(x, 90), lambda x: np.percentile(x, 90)),
    "unique": Case(_integers, lambda x: dnp.unique(x, size=x.shape[0]), np.unique),
    "permutation": Case(
        _floats,
        lambda x: random.permutation(random.key(0), x),
        np.random.default_rng(0).permutation,
    ),
    "cumsum": Case(_floats, dnp.cumsum, np.cumsum),
    "cummax": Case(_floats, lambda x: lax.cummax(x), np.maximum.accumulate),
    "scatter-add into 1000": Case(
        _scattered, lambda x, places, updates: x.at[places].add(updates), _numpy_scatter
    ),
    "random bits": Case(
        _floats,
        lambda x: random.bits(random.key(0), x.shape),
        lambda x: np.random.default_rng(0).integers(0, 2**32, x.shape, np.uint32),
        options=XLAS_WIDTH,
    ),
    "uniform": Case(
        _floats,
        lambda x: random.uniform(random.key(0), x.shape),
        lambda x: np.random.default_rng(0).random(x.shape, np.float32),
        options=XLAS_WIDTH,
    ),
    "normal": Case(
        _floats,
        lambda x: random.normal(random.key(0), x.shape),
        lambda x: np.random.default_rng(0).standard_normal(x.shape, np.float32),
        options=XLAS_WIDTH,
    ),
    "rows of a table": Case(_rows_of, lambda x, places: x[places], lambda x, places: x[places]),
    "convolve with 30": Case(_line, dnp.convolve, np.convolve),
    "channels last, 3x3": Case(_images(LAST), _by_channel(LAST), _numpy_conv, 3e6),
    "channels first, 3x3": Case(_images(FIRST), _by_channel(FIRST), _numpy_conv, 3e6),
    "derivative by kernel": Case(_images(LAST), _kernel_of(_by_channel(LAST)), _numpy_kernel, 3e6),
    "all channels, last, 3x3": Case(
        _images(LAST, grouped=False), _by_channel(LAST), _numpy_conv, 3e6
    ),
    "all channels, first, 3x3": Case(
        _images(FIRST, grouped=False), _by_channel(FIRST), _numpy_conv, 3e6
    ),
    "product, bfloat16": Case(_square(dnp.bfloat16), _product, _numpy_product),
    "product by rows, bfloat16": Case(_square(dnp.bfloat16), _sum_of_rows, _numpy_product),
    "product, int8": Case(_square(np.int8), _product, _numpy_product, 1e6),
    "product, int16": Case(_square(np.int16), _product, _numpy_product, 1e6),
}
"""Of bfloat16 NumPy has no fast product: it multiplies float32."""
for _rows in (4, 16):
    CASES |= {
        f"Cholesky, {_rows}x{_rows}": Case(
            _matrices(_rows), dnp.linalg.cholesky, np.linalg.cholesky
        ),
        f"LU, {_rows}x{_rows}": Case(_matrices(_rows), LU, np.linalg.det),
        f"solve, {_rows}x{_rows}": Case(_matrices(_rows), _solve, _numpy_solve),
    }
"""NumPy has no LU factorization: it computes determinants, which take one."""


def sizes(largest: float) -> Iterator[int]:
    """1, 3, 10, 30, ... up to the largest."""
    n = 1
    while n <= largest:
        yield from (m for m in (n, 3 * n) if m <= largest)
        n *= 10


def measure(name: str, n: int, torch: Torch | None) -> Row:
    """The least seconds of each, run in turn."""
    case = CASES[name]
    arguments = case.arguments(np.random.default_rng(n), n)
    programs = _programs(case, [dovetail.device_put(x) for x in arguments])
    best = least(programs)
    for _ in range(3):
        if best[0] <= SLOWER * best[-1]:
            break
        best = [min(pair) for pair in zip(best, least(programs))]
    # By themselves: their threads wait for more work, and what runs then has no core.
    numpys = least([partial(_call_other, case.numpys, arguments)])[0]
    torchs = None if torch is None else torch.seconds(name, arguments)
    return Row(n, best[0], best[-1], numpys, len(programs) > 1, torchs)


def _programs(case: Case, given: list[Any]) -> list[Program]:
    """With kernels, and without them if that is another program."""
    programs: list[Program] = []
    texts: list[str] = []
    for used in (True, False):
        facts = None if used else facts_of_text(texts[0])
        options = case.options if facts is not None and draws(facts) else None
        program = dovetail.jit(lambda *xs: case.ours(*xs), compiler_options=options)
        with cpu_kernels(used):
            lowered = program.lower(*given)
            texts.append(lowered.as_text())
            if len(texts) == 2 and texts[0] == texts[1] and not options:
                break
            lowered.compile()  # which calls find
        programs.append(partial(_call, program, given, used))
    return programs


def _call(program: Any, given: list[Any], used: bool, times: int) -> None:
    """As users call it, with kernels or without."""
    with cpu_kernels(used):
        for _ in range(times):
            dovetail.block_until_ready(program(*given))


def _call_other(function: Any, given: Any, times: int) -> None:
    for _ in range(times):
        function(*given)


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
        beside = [(r.size, r.kernels / r.torch) for r in found if r.torch]
        if beside:
            axis.loglog(*zip(*beside), ":", color="C2", label="to PyTorch")
        used = [r for r in found if r.has_kernel]
        axis.loglog([r.size for r in used], [r.kernels / r.xla for r in used], ".", color="C0")
        axis.set_title(name, fontsize=9)
        axis.set_ylim(0.001, 30)
        axis.minorticks_off()
        axis.tick_params(labelsize=8)
    for axis in axes.flat[len(results) :]:
        axis.set_axis_off()
    figure.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    figure.supxlabel("elements", fontsize=9)
    figure.supylabel("time with kernels, as a ratio (dots: there is a kernel)", fontsize=9)
    figure.savefig(path, metadata={"Date": None})


def table(results: dict[str, list[Row]], load: str, seconds: float) -> list[str]:
    """The section of RESULTS.md: ratios at two sizes, the largest of all, and beside others."""
    heads = ["to XLA: 10⁵", "10⁶", "the largest, where", "to NumPy: 10⁵", "10⁶"]
    beside = any(r.torch for rows in results.values() for r in rows)
    others = ["numpy", "torch"] if beside else ["numpy"]
    heads += ["to PyTorch: 10⁵", "10⁶"] if beside else []
    lines = [
        f"Made by `make bench-kernels` in {seconds:.0f} s; load before the run: {load}. Time",
        "with kernels as a ratio, over 1, 3, 10, ... to 10⁷ elements (picture:",
        "`docs/guides/cpu_kernels.md`).",
        "", f"| kernel | {' | '.join(heads)} |", f"|---{'|---:' * len(heads)}|",
    ]  # fmt: skip
    for name, rows in results.items():
        at = {r.size: r for r in rows}
        worst = max(rows, key=lambda r: r.kernels / r.xla)
        cells = [_ratio(at.get(n), "xla") for n in (10**5, 10**6)]
        cells.append(f"{worst.kernels / worst.xla:.2f}, {worst.size}")
        for other in others:
            cells += [_ratio(at.get(n), other) for n in (10**5, 10**6)]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return lines


def _ratio(row: Row | None, other: str) -> str:
    beside = getattr(row, other) if row is not None else None
    return f"{row.kernels / beside:.3f}" if row is not None and beside else "-"


def _measured(name: str, largest: float, torch: Torch | None) -> Iterator[Row]:
    """Measures all sizes of a kernel, and prints them."""
    heads = f"{'elements':>10} {'us':>11} {'to XLA':>8} {'to NumPy':>9} {'to PyTorch':>11}"
    print(f"\n{name}\n{heads}")
    for n in sizes(min(largest, CASES[name].largest)):
        row = measure(name, n, torch)
        us, mark = row.kernels * 1e6, "" if row.has_kernel else "  no kernel"
        ratios = f"{row.kernels / row.xla:8.3f} {row.kernels / row.numpy:9.3f}"
        ratios += f"{row.kernels / row.torch:12.3f}" if row.torch else f"{'-':>12}"
        print(f"{n:>10} {us:11.1f} {ratios}{mark}", flush=True)
        yield row


def main() -> int:
    """Print the table, and draw it where a file is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=float, default=1e7)
    parser.add_argument("--only", nargs="*", default=list(CASES))
    parser.add_argument("--svg", help="where to draw the picture")
    own = sys.executable if importlib.util.find_spec("torch") else None
    parser.add_argument("--torch", default=own, help="an interpreter that has PyTorch")
    parser.add_argument("--write", action="store_true", help="renew the section of RESULTS.md")
    parser.add_argument("--json", help="where to keep the numbers, or from where to draw them")
    args = parser.parse_args()
    load, start = run.machine.load(), time.perf_counter()
    kept = Path(args.json) if args.json else None
    if kept is not None and kept.exists():
        found = json.loads(kept.read_text())
        results = {name: [Row(*r) for r in rows] for name, rows in found.items()}
    else:
        torch = Torch(args.torch) if args.torch else None
        results = {name: list(_measured(name, args.largest, torch)) for name in args.only}
        if kept is not None:
            kept.write_text(json.dumps(results))
    if args.svg:
        draw(results, args.svg)
    lines = table(results, load, time.perf_counter() - start)
    print("", *lines, sep="\n")
    if args.write:
        sections.write("cpu_kernels.py", "## Kernels for the CPU", lines)
    return 0


if __name__ == "__main__":
    sys.exit(main())
