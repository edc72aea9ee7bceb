"""Which of XLA's CPU options a module gets: by what is in its text.

What pays is measured by ``benchmarks/compile_options.py``, and said in decision 0020.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from math import prod
from typing import Any

from dovetail_core.xla.version import JAXLIB_VERSION

from .cpu_products import FUSIONS, REDUCTIONS_ALONE, are_as_fast
from .cpu_vectors import WIDEST, WIDTH, are_draws

_BARRIER = "stablehlo.optimization_barrier"
_KEPT_BARRIERS = {"xla_disable_hlo_passes": "cse_barrier_expander,small-while-loop-hoisting"}

EMITTERS = "xla_cpu_use_fusion_emitters"
LARGEST, OPERATIONS, CALLS, ELEMENTS = 32_768, 64, 3, 4096
"""A formula has a text of at most so many characters, with so many operations and calls, on arrays
of at most so many elements: of larger ones it matters more how fast it runs."""
_ELEMENTWISE = frozenset(
    """
    abs add and atan2 ceil clamp compare convert cosine divide erf exponential
    exponential_minus_one floor is_finite log log_plus_one logistic maximum minimum multiply negate
    not or power remainder round_nearest_afz round_nearest_even rsqrt select shift_left
    shift_right_arithmetic shift_right_logical sign sine sqrt square subtract tanh xor
    broadcast_in_dim constant iota pad reshape reverse slice transpose
    """.split()
)
"""Operations whose code was measured and found as fast, to the same bits. (Not so: atan, cbrt, tan;
concatenations of large arrays.)"""
_OPERATION = re.compile(r'^(?:%\S+ = )?"([a-z]+)\.(\w+)"', re.MULTILINE)
_RESULT = re.compile(r"@main\(.*\) -> \(tensor<[^>]*>(?: \{[^}]*\})?\) \{$", re.MULTILINE)
_SHAPE = re.compile(r"tensor<(\d+(?:x\d+)*)x")
_OTHER_TYPES = re.compile(r"(?<![a-z0-9])(?:b?f16|f[468]E\w+|complex<|u?i[24]>)|#sdy|sdy\.")


def options_for(text: str, exists: Callable[[str], bool]) -> Mapping[str, Any]:
    """Compile options that a module asks for; ``exists`` says which the compiler has.

    XLA's CPU compiler of jaxlib before 0.12 removes barriers before it orders operations. What a
    checkpointed function is to compute again late is then computed early, and lives as long as if
    it had been kept: rematerialisation saves nothing. It can keep barriers up to the end, but not
    in small loops that it compiles into one kernel. Newer versions order operations well.

    A formula, one result of few elements that are computed one by one, is compiled in 0.5 to 0.8 of
    the time without the fusion emitters, to the same bits and as fast. (Where equal parts are
    repeated, in loops, and in other types they are better by far.)

    Products of matrices of a middle size need no library that prepares each when it first runs
    (see ``cpu_products``). Random numbers are drawn with the widest vectors (``cpu_vectors``).
    """
    flags = os.environ.get("XLA_FLAGS", "")
    if WIDTH not in flags and are_draws(text) and exists(WIDTH):
        return {WIDTH: WIDEST, **_barriers(text)}
    if kept := _barriers(text):
        return kept
    if is_formula(text):
        return {EMITTERS: False} if EMITTERS not in flags and exists(EMITTERS) else {}
    if are_as_fast(text) and FUSIONS not in flags and JAXLIB_VERSION < (0, 11) and exists(FUSIONS):
        return {FUSIONS: REDUCTIONS_ALONE}
    return {}


def _barriers(text: str) -> Mapping[str, Any]:
    return _KEPT_BARRIERS if JAXLIB_VERSION < (0, 12) and _BARRIER in text else {}


def is_formula(text: str) -> bool:
    """Whether a module computes one array, element by element, of usual types."""
    if len(text) > LARGEST or not _RESULT.search(text) or _OTHER_TYPES.search(text):
        return False
    found = _OPERATION.findall(text)
    if len(found) > OPERATIONS:
        return False
    own = {name for dialect, name in found if dialect != "func"}
    calls = sum(1 for x in found if x == ("func", "call"))
    if calls > CALLS or not _ELEMENTWISE.issuperset(own):
        return False
    return all(prod(map(int, x.split("x"))) <= ELEMENTS for x in set(_SHAPE.findall(text)))
