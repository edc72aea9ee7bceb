"""Primitives that choose between values: ``select_n`` and ``clamp``."""

from __future__ import annotations

from dovetail_core import Primitive, ShapedArray

from ..dtypes import kind_of
from ._elementwise import ANY, BITS, common_shape, mismatch, place, reject

select_n_p = Primitive("select_n")
"""``cases[which]`` for each element; ``which`` is boolean (two cases) or an integer.

Cases, like operands of any elementwise operation, are equally shaped or scalar. An integer below
zero chooses the first case, one that is too large the last.
"""


@select_n_p.def_abstract_eval
def _select_n(which: ShapedArray, first: ShapedArray, *others: ShapedArray) -> ShapedArray:
    cases = (first, *others)
    if kind_of(which.dtype) not in BITS:
        raise TypeError(
            f"lax.select_n chooses by booleans or integers, got {which.str_short()}{place()}. "
            "Compare first (x > 0), or convert to an integer type."
        )
    if kind_of(which.dtype) == "bool" and len(cases) > 2:
        raise TypeError(
            f"lax.select_n chooses between two cases by booleans, got {len(cases)} cases{place()}. "
            "Choose by integers."
        )
    for case in cases:
        if case.dtype != first.dtype:
            mismatch("select_n", cases)
    shape = common_shape("select_n", (which, *cases))
    return ShapedArray(shape, first.dtype, all(c.weak_type for c in cases))


clamp_p = Primitive("clamp")
"""``x`` limited to ``[min, max]``."""


@clamp_p.def_abstract_eval
def _clamp(min: ShapedArray, x: ShapedArray, max: ShapedArray) -> ShapedArray:
    operands = (min, x, max)
    for aval in operands:
        if kind_of(aval.dtype) not in ANY:
            reject("clamp", aval, ANY)
        if aval.dtype != x.dtype:
            mismatch("clamp", operands)
    weak = min.weak_type and x.weak_type and max.weak_type
    return ShapedArray(common_shape("clamp", operands), x.dtype, weak)
