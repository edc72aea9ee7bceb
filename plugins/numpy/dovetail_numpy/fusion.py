"""Decorators for functions that are one compiled call when evaluated eagerly."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

import numpy as np

from dovetail_core import EVAL, get_trace
from dovetail_jit import (
    cannot_be_hashed,
    forgiving,
    fused as fused,
    is_operand as is_operand,
    one_call as one_call,
)
from dovetail_xla.arrays import ArrayImpl

F = TypeVar("F", bound=Callable[..., Any])
ARRAYS = (ArrayImpl, np.ndarray)


def _not_two_arrays(x: Any = None, y: Any = None, **named: Any) -> bool:
    """True unless ``x`` is an array, and ``y`` an array or a number that needs no check.

    A Python float needs none, nor does an integer that every dtype that it is converted to holds.
    """
    if x.__class__ not in ARRAYS:
        return True
    kind = y.__class__
    if kind is int:
        return x.dtype.kind not in "if" or x.dtype.itemsize < 4 or not -(2**31) <= y < 2**31
    return not (kind is float or kind in ARRAYS)


def of_one_array(*static: str) -> Callable[[F], F]:
    """Decorator for a function of an array and of static arguments, which may be lists, such as
    ``axis``; further operands are given by keyword."""

    def unless(x: Any, *args: Any, **kwargs: Any) -> bool:
        others = all(is_operand(v) for n, v in kwargs.items() if n not in static)
        return x.__class__ not in ARRAYS or not others

    def decorate(f: F) -> F:
        call = fused(static, unless=unless)(f)
        if not static:
            return call
        return _forgiving_axis(f, call) if static[0] == "axis" else forgiving(f, call)

    return decorate


def fused_when_evaluated(f: F) -> F:
    """``f``, as one compiled call when evaluated; while tracing it is called directly."""
    call = fused()(f)

    def run(*args: Any) -> Any:
        return call(*args) if get_trace() is EVAL else f(*args)

    return run  # type: ignore[return-value]


def _forgiving_axis(f: F, call: F) -> F:
    """:func:`forgiving` for functions whose first option, often the only one, is the axis."""
    default = cast("Any", f).__defaults__[0]

    @wraps(f)
    def run(a: Any, axis: Any = default, *rest: Any, **options: Any) -> Any:
        if get_trace() is not EVAL:
            return f(a, axis, *rest, **options)
        try:
            if rest or options:
                return call(a, axis, *rest, **options)
            if axis is default:  # a call without static arguments takes half the time
                return call(a)
            return call(a, axis)  # packing arguments would take a tenth of the call's time
        except ValueError as e:
            if not cannot_be_hashed(e):
                raise
        return f(a, axis, *rest, **options)

    return run  # type: ignore[return-value]


def of_two_arrays(f: F, *static: str) -> F:
    """``f``, a function of two operands and of options that are ``static``, as one C++ call."""
    return fused(static, unless=_not_two_arrays)(f)
