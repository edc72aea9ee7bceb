"""Makers of NumPy rules: computing in a type that NumPy is good at, and rounding once."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_backends import Effort, reference_rules
from dovetail_core import Primitive

from ...dtypes import kind_of

Array = np.ndarray[Any, Any]


class Late:
    """The functions of a module that is imported when the first of them is called.

    SciPy takes longer to import than all of Dovetail, and most programs call rules without it.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def call(*args: Any, **kwargs: Any) -> Any:
            return getattr(import_module(self._module), name)(*args, **kwargs)

        return call


def quiet(f: Callable[..., Any]) -> Callable[..., Any]:
    """``f`` without NumPy's warnings about what IEEE arithmetic defines."""

    def run(*args: Any, **params: Any) -> Any:
        with np.errstate(all="ignore"):
            return f(*args, **params)

    return run


def same_type(primitive: Primitive, f: Callable[..., Any]) -> None:
    """Add the rule of an operation that NumPy does in the operands' own type."""

    def rule(*args: Array, **params: Any) -> Array:
        return np.asarray(f(*args, **params)).astype(args[0].dtype, copy=False)

    reference_rules.set(primitive, quiet(rule))


def wide(primitive: Primitive, f: Callable[..., Any], effort: Effort | None = None) -> None:
    """Add the rule of a function of reals or complex numbers, computed in double precision."""

    def rule(*args: Array, **params: Any) -> Array:
        dtype = args[0].dtype
        return rounded(f(*[widened(x) for x in args]), dtype)

    result = quiet(rule)
    reference_rules.set(primitive, result if effort is None else effort(result))


def widened(x: Array) -> Array:
    """``x`` in double precision."""
    return x.astype(np.complex128 if kind_of(x.dtype) == "complex" else np.float64)


def rounded(x: Any, dtype: Any) -> Array:
    """A double-precision result in its own type.

    Types without infinities overflow to NaN, as conversions between them do.
    """
    return np.asarray(x).astype(dtype)


def to_integer(x: Array, dtype: Any) -> Array:
    """Floating-point numbers as integers: truncated, saturated, and zero for NaN."""
    info = ml_dtypes.iinfo(dtype)
    wide_x = np.trunc(x.astype(np.float64))
    low, high = int(info.min), int(info.max)
    inside = np.clip(np.where(np.isnan(wide_x), 0, wide_x), low, high)
    # The greatest integer of 64 bits is not a float: what rounds beyond it is put back.
    out = np.where(inside >= high, 0, inside).astype(np.uint64 if low == 0 else np.int64)
    out = np.where(inside >= high, np.array(high, out.dtype), out)
    return out.astype(dtype)
