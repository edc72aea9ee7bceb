"""Exponents that are at most 0, whatever the compiler makes of the difference."""

from __future__ import annotations

from typing import Any

from ..primitives.arithmetic import sub_p
from ..primitives.discrete import gt_p
from ..primitives.values import complex_p, imag_p, real_p, select_n_p


def below(x: Any, bound: Any) -> Any:
    """``x - bound`` for a ``bound`` that no element of ``x`` exceeds; at most 0, and 0 where equal.

    A compiler may compute ``x`` once more where it is used. There it may contract the last product
    of ``x`` with the subtraction into a fused multiply-add, whose result is that of the product
    before it was rounded: positive, or far below 0, where ``x`` is its own bound. A selection
    between the two keeps product and subtraction apart.

    Args:
        x: real numbers, or complex ones, which are compared by their real parts.
        bound: real numbers of the shape and precision of ``x``.
    """
    if x.dtype.kind == "c":
        return complex_p.bind(below(real_p.bind(x), bound), imag_p.bind(x))
    return sub_p.bind(select_n_p.bind(gt_p.bind(x, bound), x, bound), bound)
