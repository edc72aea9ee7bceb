"""Functions that are one compiled call when evaluated eagerly."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from dovetail_core.xla.arrays import ArrayImpl
from dovetail_jit import fused as fused

F = TypeVar("F", bound=Callable[..., Any])
_ARRAYS = (ArrayImpl, np.ndarray)


def _not_an_array(x: Any, *args: Any, **kwargs: Any) -> bool:
    return x.__class__ not in _ARRAYS


def _not_two_arrays(x: Any, y: Any) -> bool:
    """A Python float is as good as an array; integers are not: their values must be checked."""
    return x.__class__ not in _ARRAYS or not (y.__class__ is float or y.__class__ in _ARRAYS)


def of_one_array(*static: str) -> Callable[[F], F]:
    """Decorator for a function of an array and of static arguments."""
    return fused(static, unless=_not_an_array)


def of_two_arrays(f: F) -> F:
    """Decorator for a function of two operands."""
    return fused(unless=_not_two_arrays)(f)
