"""Which values have bounds, for they have an order; and the least and greatest of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import is_inexact


def real(aval: Any) -> Any:
    """``aval``, if its values are real numbers, integers or booleans; else raises TypeError."""
    if getattr(getattr(aval, "dtype", None), "kind", "c") == "c":
        raise TypeError(
            f"interval: a value of type {aval.str_short()} has no bounds, for such values have no "
            "order. Take bounds of its parts (lax.real, lax.imag), or keep it known."
        )
    return aval


def limits(dtype: Any) -> tuple[Any, Any]:
    """The least and the greatest number of an element type."""
    if is_inexact(dtype):
        return -np.inf, np.inf
    return (False, True) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
