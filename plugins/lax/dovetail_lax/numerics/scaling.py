"""Powers of two that keep squares within the range of their type."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import finfo
from ..primitives.arithmetic import min_p, sub_p
from ..primitives.discrete import and_p
from ..primitives.values import bitcast_convert_type_p
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
