"""Powers of two that keep squares in the range of their type, and exponents of at most 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import finfo
from ..primitives.arithmetic import abs_p, min_p, mul_p, sub_p
from ..primitives.discrete import and_p, gt_p
from ..primitives.moves import spread
from ..primitives.reductions import reduce_max_p
from ..primitives.values import (
    bitcast_convert_type_p,
    complex_p,
    convert_element_type_p,
    imag_p,
    real_p,
    select_n_p,
    stop_gradient_p,
)
from ..scalars import scalar


def inverse_power(size: Any) -> Any:
    """The power of two that brings positive numbers to between 1 and 2, by their bits.

    Numbers up to the largest one, times its inverse power, have squares, and products of a few,
    that neither overflow nor all vanish. Of 0, infinity and NaN it is a number, too. It has no
    derivative: what is computed of scaled numbers must not depend on it.
    """
    info = finfo(size.dtype)
    word = np.dtype(f"uint{8 * size.dtype.itemsize}")
    top = (1 << (info.bits - info.nmant - 1)) - 1  # the exponent of infinity, 2 bias + 1
    bits = bitcast_convert_type_p.bind(size, new_dtype=word)
    exponent = and_p.bind(bits, scalar(top << info.nmant, word))
    exponent = min_p.bind(exponent, scalar((top - 2) << info.nmant, word))
    power = sub_p.bind(scalar((top - 1) << info.nmant, word), exponent)
    return bitcast_convert_type_p.bind(power, new_dtype=size.dtype)


def scaled_matrices(x: Any) -> tuple[Any, Any]:
    """Matrices times powers of two that bring their largest elements to about 1, and the powers.

    The powers have no derivative. Derivatives of factorizations are products of inverses of factors
    and of factors: with ``x`` once and with the result otherwise no part of such a product is
    larger or smaller than the derivative is.
    """
    last = len(x.shape) - 1
    largest = reduce_max_p.bind(abs_p.bind(stop_gradient_p.bind(x)), axes=(last - 1, last))
    power = inverse_power(largest)
    if power.dtype != x.dtype:
        power = convert_element_type_p.bind(power, new_dtype=x.dtype, weak_type=False)
    return times(x, power), power


def times(x: Any, factors: Any) -> Any:
    """Matrices times one number each."""
    batch = tuple(range(len(x.shape) - 2))
    return mul_p.bind(x, spread(factors, x.shape, batch))


def below(x: Any, bound: Any) -> Any:
    """``x - bound`` for a ``bound`` that no element of ``x`` exceeds; at most 0, and 0 where equal.

    A compiler may compute ``x`` once more where it is used. There it may contract the last product
    of ``x`` with the subtraction into a fused multiply-add, whose result is that of the product
    before it was rounded: positive, or far below 0, where ``x`` is its own bound. A selection
    between the two keeps product and subtraction separate.

    Args:
        x: real numbers, or complex ones, which are compared by their real parts.
        bound: real numbers of the shape and precision of ``x``.
    """
    if x.dtype.kind == "c":
        return complex_p.bind(below(real_p.bind(x), bound), imag_p.bind(x))
    return sub_p.bind(select_n_p.bind(gt_p.bind(x, bound), x, bound), bound)
