"""Public functions that are one call in C++ where they are evaluated, their checks included."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from itertools import zip_longest
from typing import Any, TypeVar, cast

import numpy as np

from dovetail_core import EVAL, Tracer, get_trace
from dovetail_xla.arrays import ArrayImpl

from .eager import fused

F = TypeVar("F", bound=Callable[..., Any])
ARRAYS = (ArrayImpl, np.ndarray)


def one_call(*static: str, shared: bool = False) -> Callable[[F], F]:
    """Decorator of a public function of arrays and of ``static`` arguments: one C++ call where it
    is evaluated, its checks included; in a trace one call of a program, if it is ``shared``.

    Where other values are given, as lists, or statics that cannot be hashed, it is called as it is.
    """

    def decorate(f: F) -> F:
        code = cast("Any", f).__code__
        named = frozenset(static)
        fixed = [n in named for n in code.co_varnames[: code.co_argcount]]

        def unless(*args: Any, **kwargs: Any) -> bool:
            given = (
                *zip_longest(args, fixed[: len(args)], fillvalue=False),
                *((v, n in named) for n, v in kwargs.items()),
            )
            return not all(_is_known(x) if known else is_operand(x) for x, known in given)

        call = fused(static, unless=unless, shared=shared)(f)
        if not static:
            return call

        return forgiving(f, call, in_traces=shared)

    return decorate


def _is_known(x: Any) -> bool:
    return not isinstance(x, Tracer)


def is_operand(x: Any) -> bool:
    """Whether C++ takes ``x`` for an array: arrays, numbers and None."""
    kind = x.__class__
    if kind is int:
        return -(2**31) <= x < 2**31
    return kind in ARRAYS or kind is float or x is None or isinstance(x, Tracer)


def forgiving(f: F, call: F, in_traces: bool = False) -> F:
    """``call``, and ``f`` itself for arguments that C++ cannot hash, such as ``axis=[0, 1]``."""

    @wraps(f)
    def run(*args: Any, **kwargs: Any) -> Any:
        if in_traces or get_trace() is EVAL:
            try:
                return call(*args, **kwargs) if kwargs else call(*args)
            except ValueError as e:
                if not cannot_be_hashed(e):
                    raise
        return f(*args, **kwargs)

    return run  # type: ignore[return-value]


def cannot_be_hashed(e: ValueError) -> bool:
    """Whether C++ refused a call because a static argument has no hash."""
    return str(e).startswith("Non-hashable static arguments")
