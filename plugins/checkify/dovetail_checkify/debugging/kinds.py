"""What is looked for: nan, and infinity."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_core import ShapedArray, is_inexact, typeof


class Kind(NamedTuple):
    """A kind of numbers.

    Attributes:
        traced: which elements of a floating-point array are such numbers; it may be traced.
        concrete: the same for a NumPy array.
    """

    name: str
    traced: Callable[[Any], Any]
    concrete: Callable[[Any], Any]


def can_be(aval: Any) -> bool:
    """Whether elements of an array of a type can be nan or infinite."""
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype)


def has_numbers(aval: Any) -> bool:
    """Whether a type is that of arrays of numbers or booleans, which can be shown."""
    if not isinstance(aval, ShapedArray) or not isinstance(aval.dtype, np.dtype):
        return False
    return is_inexact(aval.dtype) or aval.dtype.kind in "biu"


def is_floating(x: Any) -> bool:
    """Whether elements of a value can be nan or infinite."""
    return can_be(typeof(x))


def _is_nan(x: Any) -> Any:
    return lax.ne(x, x)


def _is_inf(x: Any) -> Any:
    if typeof(x).dtype.kind == "c":  # type: ignore[attr-defined]
        return lax.bitwise_or(_is_inf(lax.real(x)), _is_inf(lax.imag(x)))
    return lax.eq(lax.abs(x), typeof(x).dtype.type(np.inf))  # type: ignore[attr-defined]


NAN = Kind("nan", _is_nan, np.isnan)
INF = Kind("inf", _is_inf, np.isinf)
KINDS = {kind.name: kind for kind in (NAN, INF)}
