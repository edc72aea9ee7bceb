"""Identity elements of reductions, and the option that forbids sums with 16-bit partial sums."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from dovetail_base.options import as_bool
from dovetail_core import Option, config, here, typeof

from .dtypes import kind_of


def is_floating(dtype: Any) -> bool:
    """True if ``dtype`` is a real floating-point type (ml_dtypes' included)."""
    return kind_of(dtype) == "floating"


def is_integer(dtype: Any) -> bool:
    """True if ``dtype`` is an integer type (narrow ones included, not ``bool``)."""
    return kind_of(dtype) in ("signed", "unsigned")


def lowest(dtype: Any) -> Any:
    """The identity of maximum: minus infinity, or the least value of a type that lacks it."""
    return _extreme(dtype, -1)


def highest(dtype: Any) -> Any:
    """The identity of minimum: infinity, or the greatest value of a type that lacks it."""
    return _extreme(dtype, 1)


def _extreme(dtype: Any, sign: int) -> Any:
    if dtype.kind == "b":
        return np.bool_(sign > 0)
    if dtype.kind == "c":
        return dtype.type(complex(sign * np.inf, sign * np.inf))
    if is_floating(dtype):
        infinity = dtype.type(sign * np.inf)
        if np.isinf(np.float64(infinity)):
            return infinity
        info: Any = ml_dtypes.finfo(dtype)
    else:
        info = ml_dtypes.iinfo(dtype)
    return dtype.type(info.max if sign > 0 else info.min)


def all_ones(dtype: Any) -> Any:
    """The identity of bitwise and: true, or all bits set."""
    if dtype.kind == "b":
        return np.bool_(True)
    info = ml_dtypes.iinfo(dtype)
    return dtype.type(-1 if int(info.min) < 0 else info.max)


def zero(dtype: Any) -> Any:
    """The identity of addition, or, and exclusive or."""
    return dtype.type(0)


def one(dtype: Any) -> Any:
    """The identity of multiplication."""
    return dtype.type(1)


IDENTITIES = {
    "sum": zero,
    "prod": one,
    "max": lowest,
    "min": highest,
    "and": all_ones,
    "or": zero,
    "xor": zero,
}
"""Per kind of reduction, the function from an element type to its identity."""


allow_f16_reductions = config.add(
    Option(
        "allow_f16_reductions",
        True,
        "Whether 16-bit floating-point numbers may be summed as they are; numpy.sum, mean and the "
        "like convert to float32 first.",
        check=as_bool,
        traced=True,
    )
)
_state = allow_f16_reductions.state


def check_sum(x: Any) -> None:
    """Refuse an operand of a sum whose elements are 16-bit floats, if the option forbids it.

    Raises:
        ValueError: they are.
    """
    if _state.value:
        return
    aval: Any = typeof(x)
    if aval.dtype.name in ("float16", "bfloat16"):
        raise ValueError(
            f"a sum of {aval.str_short()}{here()}: its partial sums would have 16 bits, which "
            "the option allow_f16_reductions=False forbids. Convert to float32 first, or use "
            "numpy.sum, which does."
        )
