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
    found = own_operator(x, y, "__matmul__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else MATMUL.miss(x, y)


def rmatmul(x: Any, y: Any) -> Any:
    """``y @ x`` for an array ``x``."""
    found = own_operator(x, y, "__rmatmul__")
    if found is not NotImplemented:
        return found
    return NotImplemented if foreign(y) else MATMUL.miss(y, x)


matmul.__name__, rmatmul.__name__ = "__matmul__", "__rmatmul__"
