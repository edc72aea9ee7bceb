"""Which modules XLA compiles for the widest vectors that there are: those of random numbers.

XLA asks LLVM for vectors of 256 bits, because wider ones make some older processors slower. Nearly
all that numbers drawn with threefry take is its rounds, of which a vector of 512 bits does twice as
many: bits, uniform numbers and integers take 0.65 to 0.75 of the time, to the same bits. For
processors without such vectors the code is the same as before.
"""

from __future__ import annotations

import re
from math import prod

WIDTH = "xla_cpu_prefer_vector_width"
WIDEST = 512
LEAST = 1 << 13
"""Elements from which it was faster: the rest of shorter loops takes longer."""
_PARITY = "dense<466688986>"
"""The constant of threefry's key schedule, which no other program has."""
_AS_FAST = frozenset(
    """
    abs add and bitcast_convert broadcast_in_dim ceil clamp compare concatenate constant convert
    cosine divide erf erf_inv exponential exponential_minus_one floor iota is_finite log
    log_plus_one logistic maximum minimum multiply negate not optimization_barrier or pad reshape
    remainder reverse round_nearest_even select shift_left shift_right_arithmetic
    shift_right_logical sign sine slice sqrt subtract tanh transpose xor
    """.split()
)
"""Operations whose code was measured beside the rounds and found as fast or faster, to the same
bits. (Not so: atan and rsqrt, which are rounded otherwise; atan2, power, tan, which are slower.)"""
_OPERATION = r"\b(?:stablehlo|chlo)\.(\w+)"
_SHAPE = r"tensor<(\d+(?:x\d+)*)x"


def are_draws(text: str) -> bool:
    """Whether a module draws many random numbers, and computes nothing but with each of them."""
    if _PARITY not in text or not _AS_FAST.issuperset(re.findall(_OPERATION, text)):
        return False
    return any(prod(map(int, x.split("x"))) >= LEAST for x in set(re.findall(_SHAPE, text)))
