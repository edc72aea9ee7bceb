"""The table of rules by which XLA's compile options for the CPU are chosen, from a module's facts.

Each rule says why it is there. What pays is measured by ``benchmarks/compile_options.py``; decision
0020 has the figures. A fault has a program that shows it in ``tests/test_cpu_faults.py``: a test
fails if a version after the last that is known to have it has it, too, and if no supported version
has it any more.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from dovetail_xla.options import LEVEL
from dovetail_xla.version import JAXLIB_VERSION

from . import cpu_predicates as module
from .pjrt.facts import ModuleFacts

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
        why: what modules have without the options, or what these are good for.
        applies: tells from a module's facts whether the rule is for it.
        options: compile options; of a fault empty where the lowering avoids what has it.
        last: the newest version of jaxlib, two numbers, that it is for, all of which have the
            options; None: it is for all that have them.
        beside: an option that rules above must have set.
        is_fault: whether wrong results are avoided, of modules of which nothing is known, too.
    """

    name: str
    why: str
    applies: Callable[[ModuleFacts], bool]
    options: Mapping[str, Any]
    last: tuple[int, int] | None = None
    beside: str = ""
    is_fault: bool = False


RULES = (
    Rule(
        "fusions of reductions",
        "Fusions of the library that end in a reduction of products or of many axes have wrong "
        "elements, or the process dies when they are compiled.",
        module.any_module,
        {FUSIONS: SINGLE_PRODUCTS},
        last=(0, 10),
        is_fault=True,
    ),
    Rule(
        "windows over holes",
        "A reduction of windows by the library forgets the holes between elements (base dilation, "
        "or a pad before it) along axes on which windows take one place.",
        module.has_windows_over_holes,
        {FUSIONS: SINGLE_PRODUCTS},
        last=(0, 12),
        is_fault=True,
    ),
    Rule(
        "negative pads of windows",
        "The process dies when windows of one place everywhere have negative pads; the lowering of "
        "windows cuts off before.",
        module.avoided_by_lowering,
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
        module.has_barriers,
        {PASSES: BARRIERS},
        last=(0, 11),
    ),
    Rule(
        "random numbers",
        "XLA asks LLVM for vectors of 256 bits, because wider ones make some older processors "
        "slower. Nearly all that numbers drawn with threefry take is its rounds, of which a vector "
        "of 512 bits does twice as many: 0.65 to 0.75 of the time, to the same bits. For "
        "processors without such vectors the code is the same.",
        module.draws,
        {WIDTH: WIDEST},
    ),
    Rule(
        "small modules with few passes",
        "Compiled in 0.4 to 0.6 of the time, and as fast; without emitters LLVM's last passes "
        "would write reductions out, which takes ten times as long to compile.",
        module.is_small_and_needs_few_passes,
        {EMITTERS: False, LEVEL: 1},
    ),
    Rule(
        "small modules",
        "Compiled in 0.7 of the time, to the same bits and as fast. (Where equal parts are "
        "repeated, in loops, and in other types the emitters are better by far.)",
        module.is_small_and_needs_passes,
        {EMITTERS: False},
    ),
    Rule(
        "products of a middle size",
        "For each product of a program, wherever it is called, the library makes a plan when the "
        "program first runs in a process: half a millisecond each, 0.15 seconds for a transformer "
        "of 12 layers. oneDNN needs none, and is as fast for products of a middle size. Smaller "
        "ones and batches of small ones take it longer; larger ones are divided among the cores by "
        "the library alone.",
        module.has_products_of_a_middle_size,
        {FUSIONS: NO_FUSIONS},
        last=(0, 10),
    ),
    Rule(
        "recurrent networks",
        "Loops over small products of matrices and elementwise functions are compiled in 0.7 to "
        "1.0 of the time at the second of LLVM's three levels, to the same bits, and run as fast "
        "or faster. In stencils only the third level takes the choice among joined parts out of a "
        "kernel's loop.",
        module.is_recurrent,
        {LEVEL: 2},
    ),
    Rule(
        "reductions along rows",
        "Without the library XLA writes each reduction as a tree of windows of 32 elements for "
        "each axis. Along rows that takes 2 to 8 times as long as one loop, whose vectors add up "
        "as many partial sums; down columns, and over several axes, the tree is 2 to 3 times as "
        "fast, and nearer to the exact sum.",
        module.reduces_along_rows,
        {PASSES: TREES},
        last=(0, 10),
        beside=FUSIONS,
    ),
)
"""Of an option that several rules set the last one's value counts; lists of passes are joined."""


def options_for(
    facts: ModuleFacts | None,
    exists: Callable[[str], bool],
    version: tuple[int, ...] = JAXLIB_VERSION,
) -> Mapping[str, Any]:
    """The compile options for a module, by all rules that are for it.

    A rule's options are taken together, or not at all where ``XLA_FLAGS`` names one of them.

    Args:
        facts: None where nothing is known of the module.
        exists: says which options the compiler has.
    """
    result: dict[str, Any] = {}
    flags = os.environ.get("XLA_FLAGS", "")
    for rule in RULES:
        if not _is_for(rule, facts, version) or (rule.beside and rule.beside not in result):
            continue
        if any(name in flags for name in rule.options):
            continue
        if rule.last is not None or all(map(exists, rule.options)):
            result.update({k: _joined(k, result.get(k), v) for k, v in rule.options.items()})
    return result


def _is_for(rule: Rule, facts: ModuleFacts | None, version: tuple[int, ...]) -> bool:
    if rule.last is not None and version[:2] > rule.last:
        return False
    return rule.is_fault if facts is None else rule.applies(facts)


def _joined(name: str, before: Any, value: Any) -> Any:
    return f"{before},{value}" if name == PASSES and before else value
