"""The table of rules that choose XLA's compile options for the CPU, by the facts of a module.

First the predicates over facts, then the rules, each with its reason. Lists of operations and
limits are those that were measured (``benchmarks/compile_options.py``); decision 0020 has the
figures. For each fault of the compiler a program in ``tests/test_cpu_faults.py`` shows it; the test
fails if a jaxlib newer than the rule's last version has the fault, and if no supported version has
it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import Any, NamedTuple

from dovetail_xla.options import LEVEL
from dovetail_xla.version import JAXLIB_VERSION

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
"""The limits of a small module: operations, calls, elements of an array, results. The run time of
larger modules matters more, and the emitters compute several results at once."""
MORE, FUNCTIONS = 130, 8
"""The limit of operations if at most so many of them are elementary functions."""
FEW = 1024
"""The number of elements up to which a formula is compiled with fewer of LLVM's passes."""
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
"""Operations whose code is as fast and has the same bits, as measured. (Not so: atan, cbrt, tan.)
"""
_WITHOUT_EMITTERS = _ELEMENTWISE | {
    "concatenate", "dynamic_slice", "dynamic_update_slice", "reduce", "return",
}  # fmt: skip
"""Operations of a small module, and the terminator of regions."""
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
"""The number of elements from which wider vectors are faster: remainders of shorter loops cost
more."""
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
"""Operations whose code with wider vectors is as fast or faster and has the same bits, as measured
together with the rounds. (Not so: atan and rsqrt, which are rounded in another way; atan2, power
and tan, which are slower.)"""


def draws(facts: ModuleFacts) -> bool:
    """True if a module draws many random numbers, and computes nothing but with each of them."""
    if facts.largest < LEAST_DRAWN or not _AS_FAST_AS_ROUNDS.issuperset(facts.computations):
        return False
    return any(kind.attribute == _PARITY for kind, _ in facts.of("stablehlo.constant"))


COUNT = 12
"""The least number of products in a module."""
LEAST, MIDDLE, LARGEST, ROWS = 1 << 14, 1 << 18, 1 << 20, 64
"""Products of ``m x k`` and ``k x n`` are as fast with ``m k n`` from ``MIDDLE`` to ``LARGEST`` and
at least ``ROWS`` rows; others from ``LEAST`` may be among them, with at most a third of the work.
"""


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
_USE_ENTIRE_ARRAYS = frozenset(
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
    return facts.uses.get("stablehlo.concatenate", frozenset()) <= _USE_ENTIRE_ARRAYS


FUSIONS = "xla_cpu_experimental_ynn_fusion_type"
"""The kinds of fusions that the library YNNPACK computes."""
SINGLE_PRODUCTS, NO_FUSIONS = "LIBRARY_FUSION_TYPE_INDIVIDUAL_DOT", ""
"""Products of matrices without what comes before and after them; none."""
PASSES = "xla_disable_hlo_passes"
"""Names of passes that are left out, with commas between them."""
BARRIERS, TREES = "cse_barrier_expander,small-while-loop-hoisting", "tree_reduction_rewriter"
"""Passes that remove barriers, and one that writes reductions as trees."""
EMITTERS = "xla_cpu_use_fusion_emitters"
WIDTH, WIDEST = "xla_cpu_prefer_vector_width", 512


class Rule(NamedTuple):
    """A rule of the table.

    Attributes:
        name: a few words.
        why: the problem that modules have without the options, or the benefit of the options.
        applies: a predicate over a module's facts.
        options: compile options; empty for a fault that the lowering avoids.
        last: the newest version of jaxlib, two numbers, that the rule is for, all of which have the
            options; None: it is for all versions that have them.
        requires: an option that earlier rules must have set.
        is_fault: True if wrong results are avoided, also of modules without known facts.
    """

    name: str
    why: str
    applies: Callable[[ModuleFacts], bool]
    options: Mapping[str, Any]
    last: tuple[int, int] | None = None
    requires: str = ""
    is_fault: bool = False


RULES = (
    Rule(
        "fusions of reductions",
        "Fusions of the library that end in a reduction of products or of many axes have wrong "
        "elements, or the process dies when they are compiled.",
        any_module,
        {FUSIONS: SINGLE_PRODUCTS},
        last=(0, 10),
        is_fault=True,
    ),
    Rule(
        "windows over holes",
        "A reduction of windows by the library forgets the holes between elements (base dilation, "
        "or a pad before it) along axes that have one window.",
        has_windows_over_holes,
        {FUSIONS: SINGLE_PRODUCTS},
        last=(0, 12),
        is_fault=True,
    ),
    Rule(
        "negative pads of windows",
        "The process dies if there is one window along every axis and pads are negative; the "
        "lowering of windows slices the operand before.",
        avoided_by_lowering,
        {},
        last=(0, 12),
        is_fault=True,
    ),
    Rule(
        "barriers",
        "The compiler removes barriers before it orders operations: what a checkpointed function "
        "is to compute again late is computed early, and lives as long as if it had been kept. It "
        "can keep barriers up to the end, but not in small loops that it compiles into one kernel. "
        "Newer versions order operations well.",
        has_barriers,
        {PASSES: BARRIERS},
        last=(0, 11),
    ),
    Rule(
        "random numbers",
        "XLA asks LLVM for vectors of 256 bits, because wider ones make some older processors "
        "slower. Nearly all that numbers drawn with threefry take is its rounds, of which a vector "
        "of 512 bits does twice as many: 0.65 to 0.75 of the time, to the same bits. For "
        "processors without such vectors the code is the same.",
        draws,
        {WIDTH: WIDEST},
    ),
    Rule(
        "small modules with few passes",
        "Compiled in 0.4 to 0.6 of the time, and as fast; without emitters LLVM's last passes "
        "would write reductions out, which takes ten times as long to compile.",
        is_small_and_needs_few_passes,
        {EMITTERS: False, LEVEL: 1},
    ),
    Rule(
        "small modules",
        "Compiled in 0.7 of the time, to the same bits and as fast. (Where equal parts are "
        "repeated, in loops, and in other types the emitters are better by far.)",
        is_small_and_needs_passes,
        {EMITTERS: False},
    ),
    Rule(
        "products of a middle size",
        "For each product of a program, wherever it is called, the library makes a plan when the "
        "program first runs in a process: half a millisecond each, 0.15 seconds for a transformer "
        "of 12 layers. oneDNN needs none, and is as fast for products of a middle size. Smaller "
        "ones and batches of small ones take it longer; larger ones are divided among the cores by "
        "the library alone.",
        has_products_of_a_middle_size,
        {FUSIONS: NO_FUSIONS},
        last=(0, 10),
    ),
    Rule(
        "recurrent networks",
        "Loops over small products of matrices and elementwise functions are compiled in 0.7 to "
        "1.0 of the time at the second of LLVM's three levels, to the same bits, and run as fast "
        "or faster. In stencils only the third level takes the choice among joined parts out of a "
        "kernel's loop.",
        is_recurrent,
        {LEVEL: 2},
    ),
    Rule(
        "reductions along rows",
        "Without the library XLA writes each reduction as a tree of windows of 32 elements for "
        "each axis. Along rows that takes 2 to 8 times as long as one loop, whose vectors add up "
        "as many partial sums; down columns, and over several axes, the tree is 2 to 3 times as "
        "fast, and nearer to the exact sum.",
        reduces_along_rows,
        {PASSES: TREES},
        last=(0, 10),
        requires=FUSIONS,
    ),
)
"""If several rules set an option, the last one's value counts; lists of passes are joined."""


def options_for(
    facts: ModuleFacts | None,
    exists: Callable[[str], bool],
    version: tuple[int, ...] = JAXLIB_VERSION,
) -> Mapping[str, Any]:
    """The compile options for a module, by all rules that apply to it.

    None of a rule's options is used if ``XLA_FLAGS`` names one of them.

    Args:
        facts: None if nothing is known of the module.
        exists: a predicate over names: True for options that the compiler has.
    """
    result: dict[str, Any] = {}
    flags = os.environ.get("XLA_FLAGS", "")
    for rule in RULES:
        if not _applies(rule, facts, version) or (rule.requires and rule.requires not in result):
            continue
        if any(name in flags for name in rule.options):
            continue
        if rule.last is not None or all(map(exists, rule.options)):
            result.update({k: _joined(k, result.get(k), v) for k, v in rule.options.items()})
    return result


def _applies(rule: Rule, facts: ModuleFacts | None, version: tuple[int, ...]) -> bool:
    if rule.last is not None and version[:2] > rule.last:
        return False
    return rule.is_fault if facts is None else rule.applies(facts)


def _joined(name: str, before: Any, value: Any) -> Any:
    return f"{before},{value}" if name == PASSES and before else value
