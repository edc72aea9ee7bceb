"""Operands as the user's function gets them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import typeof


def read_only(x: Any) -> np.ndarray[Any, Any]:
    """A NumPy array of the value's type that refuses to be written to."""
    aval: Any = typeof(x)
    found = np.asarray(x, aval.dtype).view()
    found.flags.writeable = False
    return found
