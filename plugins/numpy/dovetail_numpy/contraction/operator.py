"""The operator ``@`` as methods of arrays."""

from __future__ import annotations

from typing import Any

from dovetail_core.dispatch.operators import own_operator

from ..operators import converted
from ..ufuncs.plans import foreign
from .matmul import MATMUL


def matmul(x: Any, y: Any) -> Any:
    """``x @ y`` for an array ``x``."""
    try:
        plan = MATMUL.plans.get((x.aval, getattr(y, "aval", None)))
        if plan is not None:
            return plan(x, y)
    except TypeError:
        return converted(MATMUL.miss, y, x, y)
    result = own_operator(x, y, "__matmul__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else MATMUL.miss(x, y)


def rmatmul(x: Any, y: Any) -> Any:
    """``y @ x`` for an array ``x``."""
    result = own_operator(x, y, "__rmatmul__")
    if result is not NotImplemented:
        return result
    return NotImplemented if foreign(y) else MATMUL.miss(y, x)


matmul.__name__, rmatmul.__name__ = "__matmul__", "__rmatmul__"
