"""Functions of several operations that are one compiled call when they are evaluated."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np

from dovetail_core import EVAL, get_trace, registry
from dovetail_xla.arrays import ArrayImpl

F = TypeVar("F", bound=Callable[..., Any])
_ARRAYS = (ArrayImpl, np.ndarray)


def _is_operand(x: Any) -> bool:
    return x.__class__ in _ARRAYS or (x.__class__ is int and -(2**31) <= x < 2**31)


def of_array_and_index(*static: str) -> Callable[[F], F]:
    """Decorator: a function of an array, an index, and arguments that are ``static``.

    The plugin that evaluates compiles it, by the provider ``fuser``. Other operands than arrays and
    integers that every index type holds are given to the function as it is.
    """

    def decorate(f: F) -> F:
        whole: list[Any] = []

        def unless(operand: Any = None, index: Any = None, *rest: Any, **named: Any) -> bool:
            return operand.__class__ not in _ARRAYS or not _is_operand(index)

        def made() -> Any:
            fuser = registry().provider("fuser", default=None)
            return f if fuser is None else fuser(static=static, unless=unless)(f)

        @wraps(f)
        def run(*args: Any, **kwargs: Any) -> Any:
            if get_trace() is not EVAL:
                return f(*args, **kwargs)
            if not whole:
                whole.append(made())
            return whole[0](*args, **kwargs)

        return run  # type: ignore[return-value]

    return decorate
