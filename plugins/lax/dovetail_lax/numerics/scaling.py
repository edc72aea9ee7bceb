"""Powers of two that keep squares within the range of their type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import finfo
from ..primitives.arithmetic import abs_p, min_p, mul_p, sub_p
from ..primitives.discrete import and_p
from ..primitives.moves import spread
from ..primitives.reductions import reduce_max_p
from ..primitives.values import bitcast_convert_type_p, convert_element_type_p, stop_gradient_p
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
    and of factors: with ``x`` once and with what is returned elsewhere no part of such a product is
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
