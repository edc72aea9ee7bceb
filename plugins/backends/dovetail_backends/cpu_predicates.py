"""Predicates over the facts of a module, for the table of compile options (``cpu_rules``).

Lists of operations and limits are those that were measured; decision 0020 has the figures.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from .pjrt.facts import ModuleFacts


def any_module(facts: ModuleFacts) -> bool:
    """True."""
    return True


def avoided_by_lowering(facts: ModuleFacts) -> bool:
    """False: what the lowering writes does not have the fault."""
    return False


def has_windows_over_holes(facts: ModuleFacts) -> bool:
    """True if windows are reduced where there may be holes between elements: by a base dilation, or
    by a pad, wherever it is."""
    windows = [kind.attribute for kind, _ in facts.of("stablehlo.reduce_window")]
    pads = [kind.attribute for kind, _ in facts.of("stablehlo.pad")]
    if not windows:
        return False
    dilated = any(w is None or any(d > 1 for d in w) for w in windows)
    return dilated or any(p is None or any(holes > 0 for holes in p) for p in pads)


def has_barriers(facts: ModuleFacts) -> bool:
    """True if there is an optimization barrier."""
    return "stablehlo.optimization_barrier" in facts.counts


def reduces_along_rows(facts: ModuleFacts) -> bool:
    """True if more elements are reduced along the last axis than in other ways."""
    rows = others = 0
    for kind, count in facts.of("stablehlo.reduce"):
        shape = kind.operands[0].shape
        if kind.attribute == (len(shape) - 1,):
            rows += count * prod(shape)
        elif kind.attribute and shape:
            others += count * prod(shape)
    return rows > others


OPERATIONS, CALLS, ELEMENTS, RESULTS = 64, 3, 4096, 2
"""A small module has at most so many operations and calls, on arrays of at most so many elements,
and so many results: of larger ones it matters more how fast they run, and of more results the
emitters compute several at once."""
MORE, FUNCTIONS = 130, 8
"""So many operations it may have if at most so many of them are elementary functions."""
FEW = 1024
"""Elements up to which a formula is compiled with fewer of LLVM's passes."""
_DIALECTS = frozenset(("stablehlo", "chlo", "func"))
_USUAL = frozenset("i1 i8 i16 i32 i64 ui8 ui16 ui32 ui64 f32 f64".split())
_ELEMENTWISE = frozenset(
    """
    abs add and atan2 ceil clamp compare convert cosine divide erf exponential
    exponential_minus_one floor is_finite log log_plus_one logistic maximum minimum multiply negate
    not or power remainder round_nearest_afz round_nearest_even rsqrt select shift_left
    shift_right_arithmetic shift_right_logical sign sine sqrt square subtract tanh xor
    broadcast_in_dim constant iota pad reshape reverse slice transpose
    """.split()
)
"""Operations whose code was measured and found as fast, to the same bits. (Not so: atan, cbrt,
tan.)"""
_WITHOUT_EMITTERS = _ELEMENTWISE | {
    "concatenate", "dynamic_slice", "dynamic_update_slice", "reduce", "return",
}  # fmt: skip
"""Those of a small module, and what ends their regions."""
_NEED_PASSES = frozenset(("atan2", "log_plus_one", "power", "remainder"))
"""Operations that take longer with fewer of LLVM's passes."""
_FUNCTIONS = tuple(
    f"{dialect}.{name}"
    for dialect in ("stablehlo", "chlo")
    for name in """
    cosine erf exponential exponential_minus_one log log_plus_one logistic power sine tanh
    """.split()
)


def is_small(facts: ModuleFacts) -> bool:
    """True if a module is compiled in less time without the fusion emitters, and runs as fast."""
    if not 1 <= len(facts.results) <= RESULTS or facts.largest > ELEMENTS or facts.has_shardings:
        return False
    if not (facts.computations <= _WITHOUT_EMITTERS and facts.dialects <= _DIALECTS):
        return False
    if not all(t.element in _USUAL for t in facts.types):
        return False
    functions = sum(facts.counts.get(name, 0) for name in _FUNCTIONS)
    most = MORE if functions <= FUNCTIONS else OPERATIONS
    return facts.counts.get("func.call", 0) <= CALLS and sum(facts.counts.values()) <= most


def is_small_and_needs_passes(facts: ModuleFacts) -> bool:
    """True if a small module runs slower with fewer of LLVM's passes."""
    return is_small(facts) and not _needs_few_passes(facts)


def is_small_and_needs_few_passes(facts: ModuleFacts) -> bool:
    """True if a small module runs as fast with fewer of LLVM's passes."""
    return is_small(facts) and _needs_few_passes(facts)


def _needs_few_passes(facts: ModuleFacts) -> bool:
    """True if arrays are reduced, or there are few elements and no operation that takes longer."""
    simple = facts.largest <= FEW and _NEED_PASSES.isdisjoint(facts.computations)
    return simple or "reduce" in facts.computations


LEAST_DRAWN = 1 << 13
"""Elements from which wider vectors were faster: the rest of shorter loops takes longer."""
_PARITY = 466688986
"""The constant of threefry's key schedule, which no other program has."""
_AS_FAST_AS_ROUNDS = frozenset(
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


def draws(facts: ModuleFacts) -> bool:
    """True if a module draws many random numbers, and computes nothing but with each of them."""
    if facts.largest < LEAST_DRAWN or not _AS_FAST_AS_ROUNDS.issuperset(facts.computations):
        return False
    return any(kind.attribute == _PARITY for kind, _ in facts.of("stablehlo.constant"))


COUNT = 12
"""So many products there must be in a module."""
LEAST, MIDDLE, LARGEST, ROWS = 1 << 14, 1 << 18, 1 << 20, 64
"""Products of ``m x k`` and ``k x n`` are as fast with ``m k n`` from ``MIDDLE`` to ``LARGEST`` and
so many rows; others from ``LEAST`` may be among them, with at most a third of the work."""


class Product(NamedTuple):
    """``count`` times ``batch`` products of matrices ``m x k`` and ``k x n``."""

    batch: int
    m: int
    k: int
    n: int
    count: int = 1

    @property
    def work(self) -> int:
        """Multiplications of one of them."""
        return self.m * self.k * self.n


def has_products_of_a_middle_size(facts: ModuleFacts) -> bool:
    """True if the products of a module without loops and barriers take as long without the library.

    A loop runs what it has more often than its module says.
    """
    if has_barriers(facts) or not {"while", "convolution"}.isdisjoint(facts.computations):
        return False
    result = products(facts)
    if result is None or sum(p.count for p in result) < COUNT:
        return False
    if not all(LEAST <= p.work <= LARGEST for p in result):
        return False
    every = sum(p.count * p.batch * p.work for p in result)
    fast = [p for p in result if p.batch == 1 and p.m >= ROWS and p.work >= MIDDLE]
    return 3 * sum(p.count * p.work for p in fast) >= 2 * every


def products(facts: ModuleFacts) -> Sequence[Product] | None:
    """The products of matrices in a module; None where some are of another type than float32, or
    their dimensions are not known."""
    result: list[Product] = []
    for kind, count in facts.of("stablehlo.dot_general"):
        if kind.attribute is None or any(t.element != "f32" for t in kind.operands + kind.results):
            return None
        numbers = dict(kind.attribute)
        batches, summed = numbers["lhs_batching_dimensions"], numbers["lhs_contracting_dimensions"]
        left, out = kind.operands[0].shape, kind.results[0].shape
        rows = [d for i, d in enumerate(left) if i not in {*batches, *summed}]
        batch, k = prod(left[i] for i in batches), prod(left[i] for i in summed)
        # Results are axes of the batch, rows, then columns; any of them may be empty.
        columns = out[len(batches) + len(rows) :]
        result.append(Product(batch, prod(rows), k, prod(columns), count))
    return result


RECURRENT_ELEMENTS = 1 << 17
"""The largest arrays that were measured."""
_AS_FAST_AT_LEVEL_2 = frozenset(
    """
    abs add broadcast_in_dim compare concatenate constant convert divide dot_general dynamic_slice
    dynamic_update_slice exponential exponential_minus_one iota log_plus_one logistic maximum
    minimum multiply negate not or and reduce reshape return select slice sqrt subtract tanh
    transpose while
    """.split()
)
_USE_WHOLES = frozenset(
    """
    stablehlo.concatenate stablehlo.dot_general stablehlo.dynamic_update_slice stablehlo.reshape
    stablehlo.return func.call func.return
    """.split()
)


def is_recurrent(facts: ModuleFacts) -> bool:
    """True if a module's loops compute products of matrices and functions of small arrays, and put
    no parts together within arithmetic, as a stencil does."""
    if not {"while", "dot_general"} <= facts.computations <= _AS_FAST_AT_LEVEL_2:
        return False
    if facts.largest > RECURRENT_ELEMENTS:
        return False
    return facts.uses.get("stablehlo.concatenate", frozenset()) <= _USE_WHOLES
