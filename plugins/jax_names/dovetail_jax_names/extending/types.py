"""How a value of a Python class is converted to an element type that arrays have."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_core import canonical_dtype


def _canonical(x: Any, *_: Any, **__: Any) -> Any:
    return np.asarray(x, canonical_dtype(np.asarray(x).dtype))


_CLASSES = (np.ndarray, np.generic, bool, int, float, complex)
canonicalize_dtype_handlers: dict[type, Callable[..., Any]] = dict.fromkeys(_CLASSES, _canonical)
"""By class. Libraries give NumPy's entry to classes below its array, which need none here."""
