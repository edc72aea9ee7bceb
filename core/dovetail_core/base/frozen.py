"""NumPy's arrays as constants of programs: their values now, whatever is written to them later."""

from __future__ import annotations

from typing import Any

import numpy as np


class Copies:
    """The copies that a program holds of arrays that somebody may write to, one of each."""

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[int, tuple[Any, Any]] = {}  # by id, which is its own while it is alive

    def of(self, x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """``x`` as it is now: itself where nobody can write to it, else a read-only copy."""
        if not x.flags.writeable and not isinstance(x.base, np.ndarray):
            return x
        _, copy = self._known.get(id(x), (x, None))
        if copy is None or not _same_bits(x, copy):
            copy = np.array(x)
            copy.flags.writeable = False
            self._known[id(x)] = x, copy
        return copy


def _same_bits(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> bool:
    return x.shape == y.shape and x.dtype == y.dtype and x.tobytes() == y.tobytes()
