"""Which modules' products of matrices are computed without XLA's library of fusions.

For each product of a program, wherever it is called, that library makes a plan when the program
first runs in a process: half a millisecond each, 0.15 seconds for a transformer of 12 layers. Where
products are of a middle size, oneDNN, which needs no plans, is as fast. Smaller ones and batches of
small ones take it longer; larger ones are divided among the cores by the library alone.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import prod
from typing import NamedTuple

NO_FUSIONS = ""
"""The kinds of fusions that the library computes: none."""
COUNT = 12
"""So many products there must be in a module's text."""
LEAST, MIDDLE, LARGEST, ROWS = 1 << 14, 1 << 18, 1 << 20, 64
"""Products of ``m x k`` and ``k x n`` are as fast with ``m k n`` from ``MIDDLE`` to ``LARGEST`` and
so many rows; others from ``LEAST`` may be among them, with at most a third of the work."""
_DOT = (
    r'"stablehlo\.dot_general"\([^\n]*?lhs_batching_dimensions = \[([\d, ]*)\][^\n]*?'
    r"lhs_contracting_dimensions = \[([\d, ]*)\][^\n]*?"
    r": \(tensor<([^>]*)>, tensor<([^>]*)>\) -> tensor<([^>]*)>"
)
_TOO_SLOW = "stablehlo.while", "stablehlo.convolution"
"""A loop runs what it has more often than a text can say."""


class Product(NamedTuple):
    """``batch`` products of matrices ``m x k`` and ``k x n``."""

    batch: int
    m: int
    k: int
    n: int

    @property
    def work(self) -> int:
        """Multiplications of one of them."""
        return self.m * self.k * self.n


def are_as_fast(text: str) -> bool:
    """Whether a module's products take as long without the library."""
    if text.count("stablehlo.dot_general") < COUNT or any(x in text for x in _TOO_SLOW):
        return False
    found = products(text)
    if found is None or not all(LEAST <= p.work <= LARGEST for p in found):
        return False
    every = sum(p.batch * p.work for p in found)
    good = sum(p.work for p in found if p.batch == 1 and p.m >= ROWS and p.work >= MIDDLE)
    return 3 * good >= 2 * every


def products(text: str) -> Sequence[Product] | None:
    """The products of matrices in a module; None where some are of another type than float32."""
    found: list[Product] = []
    for batching, contracting, *types in re.findall(_DOT, text):
        if any(x.split("x")[-1] != "f32" for x in types):
            return None
        left, _, out = ([int(d) for d in x.split("x")[:-1]] for x in types)
        batches = [int(i) for i in batching.split(",") if i]
        summed = [int(i) for i in contracting.split(",") if i]
        rows = [d for i, d in enumerate(left) if i not in {*batches, *summed}]
        batch, k = prod(left[i] for i in batches), prod(left[i] for i in summed)
        # Results are axes of the batch, rows, then columns; any of them may be empty.
        found.append(Product(batch, prod(rows), k, prod(out[len(batches) + len(rows) :])))
    return found
