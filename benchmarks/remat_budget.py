"""How much a memory budget costs: the transformer of workloads.py at fractions of its memory.

    python benchmarks/remat_budget.py [--layers 12] [--width 64] [--sequence 64] [--batch 8]

For each budget it prints the compiled program's temporary memory and flops, as the compiler's own
analyses say (``memory_analysis``, ``cost_analysis``), the part of the forward pass that is computed
again, and the report's estimate of both. Exit status 1: at half of the memory without
rematerialisation the program needs more, or computes more than a fifth of the forward pass again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail
import dovetail.numpy as dnp
from workloads import gpt_loss, gpt_params

FRACTIONS = (0.75, 0.5, 0.35, 0.25)
MOST_AGAIN = 0.2


class Figures(NamedTuple):
    """What the compiler says of a program."""

    temporary: int
    flops: float


def measured(f: Callable[..., Any], *args: Any) -> Figures:
    """Temporary memory and flops of ``f`` compiled for these arguments."""
    compiled = dovetail.jit(f).lower(*args).compile()
    memory = compiled.memory_analysis().temp_size_in_bytes
    return Figures(memory, compiled.cost_analysis()["flops"])


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    for name, default in (("layers", 12), ("width", 64), ("sequence", 64), ("batch", 8)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    params = gpt_params(dnp, a.layers, a.width, 128, a.sequence)
    tokens = np.random.RandomState(0).randint(0, 128, (a.batch, a.sequence)).astype(np.int32)
    loss = gpt_loss(dovetail, dnp)
    forward = measured(loss, params, tokens)
    whole = measured(dovetail.value_and_grad(loss), params, tokens)
    print(f"{a.layers} blocks, width {a.width}, sequence {a.sequence}, batch {a.batch}")
    print(f"without rematerialisation: {whole.temporary / 1e6:.2f} MB")
    print(f"{whole.flops / 1e6:.0f} Mflop, of these {forward.flops / 1e6:.0f} in the forward pass")
    print(f"{'budget':>10} {'compiled':>10} {'estimate':>10} {'again':>8} {'estimate':>8}")
    bad = False
    for fraction in FRACTIONS:
        f = dovetail.remat(loss, policy=dovetail.Budget(fraction * whole.temporary))
        found = measured(dovetail.value_and_grad(f), params, tokens)
        report = f.report(params, tokens)
        again = (found.flops - whole.flops) / forward.flops
        sizes = [f"{x / 1e6:7.2f} MB" for x in (report.limit, found.temporary, report.peak)]
        print(*sizes, f"{100 * again:6.1f} % {100 * report.overhead:6.1f} %")
        if fraction == 0.5:
            bad = found.temporary > report.limit or again > MOST_AGAIN
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
