"""Which of XLA's CPU options a module gets: by what is in its text.

What pays is measured by ``benchmarks/compile_options.py``, and said in decision 0020.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from dovetail_xla.options import LEVEL
from dovetail_xla.version import JAXLIB_VERSION

from .cpu_faults import FUSIONS, options_without_faults
from .cpu_products import NO_FUSIONS, are_as_fast
from .cpu_recurrences import LEVEL_2, are_recurrences
from .cpu_reductions import TREES, are_along_rows
from .cpu_vectors import WIDEST, WIDTH, are_draws

_BARRIER = "stablehlo.optimization_barrier"
_PASSES = "xla_disable_hlo_passes"
_KEPT_BARRIERS = {_PASSES: "cse_barrier_expander,small-while-loop-hoisting"}

EMITTERS = "xla_cpu_use_fusion_emitters"
LARGEST, OPERATIONS, CALLS, ELEMENTS, RESULTS = 32_768, 64, 3, 4096, 2
"""A small module has a text of at most so many characters, with so many operations and calls, on
arrays of at most so many elements, and so many results: of larger ones it matters more how fast
they run, and of more results the emitters compute several at once."""
MORE, FUNCTIONS = 130, 8
"""So many operations it may have if at most so many of them are elementary functions."""
FEW = 1024
"""Elements up to which a formula is compiled with fewer of LLVM's passes."""
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
_FUNCTIONS = frozenset(
    """
    cosine erf exponential exponential_minus_one log log_plus_one logistic power sine tanh
    """.split()
)
_OPERATION = r'(?m)^(?:%\S+ = )?"([a-z]+)\.(\w+)"'
_RESULTS = r"(?m)@main\(.*\) -> \(((?:tensor<[^>]*>(?: \{[^}]*\})?(?:, )?)+)\) \{$"
_SHAPE = r"tensor<(\d+(?:x\d+)*)x"
_OTHER_TYPES = r"(?<![a-z0-9])(?:b?f16|f[468]E\w+|complex<|u?i[24]>)|#sdy|sdy\."


def options_for(text: str, exists: Callable[[str], bool]) -> Mapping[str, Any]:
    """The compile options for a module: without the compiler's faults (``cpu_faults``), and fast;
    where reductions lack the library, see ``cpu_reductions``.

    ``exists`` says which options the compiler has.
    """
    found = {**options_without_faults(text), **fast_options(text, exists)}
    told = _PASSES in os.environ.get("XLA_FLAGS", "")
    if FUSIONS in found and JAXLIB_VERSION < (0, 11) and not told and are_along_rows(text):
        found[_PASSES] = f"{found[_PASSES]},{TREES}" if _PASSES in found else TREES
    return found


def fast_options(text: str, exists: Callable[[str], bool]) -> Mapping[str, Any]:
    """The options with which a module is compiled in less time, or runs in less.

    XLA's CPU compiler of jaxlib before 0.12 removes barriers before it orders operations. What a
    checkpointed function is to compute again late is then computed early, and lives as long as if
    it had been kept: rematerialisation saves nothing. It can keep barriers up to the end, but not
    in small loops that it compiles into one kernel. Newer versions order operations well.

    A small module (``small_options``) is compiled in 0.4 to 0.8 of the time without the fusion
    emitters, to the same bits and as fast. (Where equal parts are repeated, in loops, and in other
    types they are better by far.)

    Products of matrices of a middle size need no library that prepares each when it first runs
    (see ``cpu_products``). Random numbers are drawn with the widest vectors (``cpu_vectors``).
    Recurrent networks are compiled with fewer passes (``cpu_recurrences``).
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if WIDTH not in flags and are_draws(text) and exists(WIDTH):
        return {WIDTH: WIDEST, **_barriers(text)}
    if kept := _barriers(text):
        return kept
    if small := small_options(text):
        return small if all(k not in flags and exists(k) for k in small) else {}
    if are_as_fast(text) and FUSIONS not in flags and JAXLIB_VERSION < (0, 11) and exists(FUSIONS):
        return {FUSIONS: NO_FUSIONS}
    if LEVEL not in flags and are_recurrences(text) and exists(LEVEL):
        return {LEVEL: LEVEL_2}
    return {}


def _barriers(text: str) -> Mapping[str, Any]:
    return _KEPT_BARRIERS if JAXLIB_VERSION < (0, 12) and _BARRIER in text else {}


def small_options(text: str) -> Mapping[str, Any]:
    """Options that compile a small module in less time and run as fast.

    One whose arrays have at most ``ELEMENTS`` elements, of usual types, with operations that were
    measured, has no fusion emitters. If it reduces arrays, or has few elements, it has fewer of
    LLVM's passes, which otherwise write a reduction's loop out (ten times as long to compile).
    """
    results = re.search(_RESULTS, text) if len(text) <= LARGEST else None
    if results is None or results[1].count("tensor<") > RESULTS or re.search(_OTHER_TYPES, text):
        return {}
    found = re.findall(_OPERATION, text)
    own = {name for dialect, name in found if dialect != "func"}
    if not _WITHOUT_EMITTERS.issuperset(own) or found.count(("func", "call")) > CALLS:
        return {}
    functions = sum(name in _FUNCTIONS for _, name in found)
    if len(found) > (MORE if functions <= FUNCTIONS else OPERATIONS):
        return {}
    largest = max((prod(map(int, x.split("x"))) for x in set(re.findall(_SHAPE, text))), default=1)
    if largest > ELEMENTS:
        return {}
    fewer = "reduce" in own or (largest <= FEW and _NEED_PASSES.isdisjoint(own))
    return {EMITTERS: False, LEVEL: 1} if fewer else {EMITTERS: False}
