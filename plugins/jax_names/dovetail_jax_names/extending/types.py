"""Conversion of Python values to element types of arrays, and symbolic dimensions of shapes."""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core import canonical_dtype

_FLOATS = ("float16", "float32", "float64", "complex64", "complex128")


def _is_element_type(name: str) -> bool:
    result = getattr(ml_dtypes, name)
    return "complex" not in name and isinstance(result, type) and issubclass(result, np.generic)


def _canonical(x: Any, *_: Any, **__: Any) -> Any:
    return np.asarray(x, canonical_dtype(np.asarray(x).dtype))


array_types: set[type] = {
    np.ndarray,
    np.longlong,
    np.bool_,
    *(np.dtype(f"{kind}{n}").type for kind in ("int", "uint") for n in (8, 16, 32, 64)),
    *(np.dtype(name).type for name in _FLOATS),
    *(getattr(ml_dtypes, name) for name in ml_dtypes.__all__ if _is_element_type(name)),
}
"""Classes of arrays and scalars that are not JAX's own, and are values of programs."""

_CLASSES = (np.ndarray, np.generic, bool, int, float, complex)
canonicalize_dtype_handlers: dict[type, Callable[..., Any]] = dict.fromkeys(_CLASSES, _canonical)
"""By class. Libraries give NumPy's entry to classes below its array, which need none here."""


class InconclusiveDimensionOperation(Exception):
    """A comparison of dimensions that are symbols has no answer that holds for all their values.

    Programs catch it. Dimensions are integers here, whose comparisons have answers, so that
    nothing raises it.
    """


def is_constant_dim(d: Any) -> bool:
    """True if a dimension is an integer."""
    try:
        index(d)
    except TypeError:
        return False
    return True
