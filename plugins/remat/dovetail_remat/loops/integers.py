"""Staged arithmetic on 32-bit integers, and reads and writes of buffers by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_core import typeof

INT = np.dtype(np.int32)


def _int(x: Any) -> Any:
    return INT.type(x) if isinstance(x, int) else x


def add(x: Any, y: Any) -> Any:
    """``x + y``."""
    return lax.add_p.bind(_int(x), _int(y))


def subtract(x: Any, y: Any) -> Any:
    """``x - y``."""
    return lax.sub_p.bind(_int(x), _int(y))


def multiply(x: Any, y: Any) -> Any:
    """``x * y``."""
    return lax.mul_p.bind(_int(x), _int(y))


def divide(x: Any, y: Any) -> Any:
    """``x // y`` of numbers that are not negative."""
    return lax.div_p.bind(_int(x), _int(y))


def minimum(x: Any, y: Any) -> Any:
    """The lesser one."""
    return lax.min_p.bind(_int(x), _int(y))


def maximum(x: Any, y: Any) -> Any:
    """The greater one."""
    return lax.max_p.bind(_int(x), _int(y))


at_least = maximum
at_most = minimum


def equal(x: Any, y: Any) -> Any:
    """``x == y``."""
    return lax.eq_p.bind(_int(x), _int(y))


def less(x: Any, y: Any) -> Any:
    """``x < y``."""
    return lax.lt_p.bind(_int(x), _int(y))


def where(which: Any, on_true: Any, on_false: Any) -> Any:
    """``on_true`` where ``which``, else ``on_false``."""
    return lax.select_n_p.bind(which, _int(on_false), _int(on_true))


def scaled(x: Any, numerator: Any, denominator: Any) -> Any:
    """``x * numerator / denominator``, an integer, without computing the product."""
    quotient = divide(x, denominator)
    rest = subtract(x, multiply(quotient, denominator))
    return add(multiply(quotient, numerator), divide(multiply(rest, numerator), denominator))


def read(buffer: Any, at: Any) -> Any:
    """The slice of ``buffer`` at index ``at`` of its first axis."""
    shape = typeof(buffer).shape[1:]  # type: ignore[attr-defined]
    starts = (_int(at), *[INT.type(0)] * len(shape))
    one = lax.dynamic_slice_p.bind(buffer, *starts, slice_sizes=(1, *shape))
    return lax.squeeze_p.bind(one, dimensions=(0,))


def write(buffer: Any, at: Any, value: Any) -> Any:
    """``buffer`` with ``value`` at index ``at`` of its first axis."""
    rank = len(typeof(value).shape)  # type: ignore[attr-defined]
    starts = (_int(at), *[INT.type(0)] * rank)
    return lax.dynamic_update_slice_p.bind(buffer, lax.expand_dims(value, (0,)), *starts)


def row(values: Sequence[Any]) -> Any:
    """Scalars as an array of one axis."""
    return lax.concatenate([lax.broadcast(_int(v), (1,)) for v in values], 0)
