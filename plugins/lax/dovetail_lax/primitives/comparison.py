"""Primitives of comparisons, and the total order of floating-point numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import Primitive

from ._elementwise import ANY, ORDERED, elementwise

_BOOL = np.dtype(np.bool_)


def _bool(dtype: Any) -> Any:
    return _BOOL


eq_p = elementwise(Primitive("eq"), ANY, result=_bool)
ne_p = elementwise(Primitive("ne"), ANY, result=_bool)
lt_p = elementwise(Primitive("lt"), ORDERED, result=_bool)
le_p = elementwise(Primitive("le"), ORDERED, result=_bool)
gt_p = elementwise(Primitive("gt"), ORDERED, result=_bool)
ge_p = elementwise(Primitive("ge"), ORDERED, result=_bool)

# In the total order -NaN < -inf < ... < -0 < 0 < ... < inf < NaN, and NaN equals itself.
eq_to_p = elementwise(Primitive("eq_to"), ORDERED, result=_bool)
le_to_p = elementwise(Primitive("le_to"), ORDERED, result=_bool)
lt_to_p = elementwise(Primitive("lt_to"), ORDERED, result=_bool)
