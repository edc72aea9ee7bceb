"""Which modules' reductions XLA compiles as loops, where its library of fusions is left out.

Without the library (see ``cpu_faults``) XLA writes each reduction as a tree of windows of 32
elements for each axis, unless it is told not to. Along rows that takes 2 to 8 times as long as one
loop, whose vectors add up as many partial sums; down columns, and over several axes, the tree is
2 to 3 times as fast, and nearer to the exact sum.
"""

from __future__ import annotations

import re
from math import prod

TREES = "tree_reduction_rewriter"
"""The pass that writes trees."""
_REDUCTION = re.compile(
    r'"stablehlo\.reduce"\([^\n]*?dimensions = array<i64: ([\d, ]+)>\}> \(\{\n'
    r"(?:[^\n]*\n)*?\}\) : \(tensor<((?:\d+x)+)"
)


def are_along_rows(text: str) -> bool:
    """Whether a module reduces more elements along the last axis than in other ways."""
    rows = others = 0
    for dimensions, sizes in _REDUCTION.findall(text):
        shape = [int(d) for d in sizes.split("x")[:-1]]
        if [int(d) for d in dimensions.split(",")] == [len(shape) - 1]:
            rows += prod(shape)
        else:
            others += prod(shape)
    return rows > others
