"""Rules of ``backends.reference``: the plainest way to say it, with NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
from dovetail_core import registry

from ..shift import shift_p


@registry().table("backends.reference").register(shift_p)
def _shift_reference(x: np.ndarray[Any, Any], *, by: int, axis: int) -> np.ndarray[Any, Any]:
    out = np.roll(x, by, axis)
    places = np.arange(x.shape[axis]) - by
    outside = (places < 0) | (places >= x.shape[axis])
    np.moveaxis(out, axis, 0)[outside] = 0
    return out
