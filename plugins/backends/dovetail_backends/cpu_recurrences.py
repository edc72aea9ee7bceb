"""Which modules are compiled with fewer of LLVM's passes: those of recurrent networks.

A loop over small products of matrices and elementwise functions is compiled in 0.7 to 1.0 of the
time at the second of LLVM's three levels, to the same bits, and runs as fast or faster. Where parts
of arrays are put together within arithmetic, as in a stencil, only the third level takes the choice
among them out of a kernel's loop.
"""

from __future__ import annotations

import re
from math import prod

LEVEL_2 = 2
ELEMENTS = 1 << 17
"""The largest arrays that were measured."""
_AS_FAST = frozenset(
    """
    abs add broadcast_in_dim compare concatenate constant convert divide dot_general dynamic_slice
    dynamic_update_slice exponential exponential_minus_one iota log_plus_one logistic maximum
    minimum multiply negate not or and reduce reshape return select slice sqrt subtract tanh
    transpose while
    """.split()
)
_OPERATION = r'"(?:stablehlo|chlo)\.(\w+)"'
_SHAPE = r"tensor<(\d+(?:x\d+)*)x"
_JOINED = r'(%\w+) = "stablehlo\.concatenate"'
_USED_WHOLE = frozenset(("concatenate", "dot_general", "dynamic_update_slice", "reshape", "return"))


def are_recurrences(text: str) -> bool:
    """Whether a module's loops compute products of matrices and functions of small arrays."""
    if '"stablehlo.while"' not in text or '"stablehlo.dot_general"' not in text:
        return False
    if not _AS_FAST.issuperset(re.findall(_OPERATION, text)):
        return False
    if any(prod(map(int, x.split("x"))) > ELEMENTS for x in set(re.findall(_SHAPE, text))):
        return False
    return all(map(_USED_WHOLE.issuperset, _uses(text).values()))


def _uses(text: str) -> dict[str, set[str]]:
    """The operations that use arrays which were put together, by their names."""
    found: dict[str, set[str]] = {name: set() for name in re.findall(_JOINED, text)}
    if found:
        names = re.compile(rf"(?:{'|'.join(map(re.escape, found))})\b")
        for line in text.splitlines():
            if operation := re.search(_OPERATION, line):
                for name in names.findall(line):
                    found[name].add(operation[1])
    return found
