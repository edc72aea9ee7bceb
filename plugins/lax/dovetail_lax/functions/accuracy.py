"""How accurate a transcendental function has to be: ``AccuracyMode`` and ``Tolerance``."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

from dovetail_base import arguments
from dovetail_base.source import called


class AccuracyMode(Enum):
    """The backend's most accurate implementation, or its default."""

    HIGHEST = 1
    DEFAULT = 2


@dataclass(frozen=True)
class Tolerance:
    """Bounds on the error: absolute, relative, in units in the last place.

    Raises:
        ValueError: a bound is negative, or there is none.
    """

    atol: float = 0.0
    rtol: float = 0.0
    ulps: int = 0

    def __post_init__(self) -> None:
        for name in ("atol", "rtol", "ulps"):
            arguments.number(name, getattr(self, name))
        if self.atol < 0 or self.rtol < 0 or self.ulps < 0:
            raise ValueError(f"tolerances must not be negative, got {self}{called()}")
        if not (self.atol or self.rtol or self.ulps):
            raise ValueError(f"a Tolerance needs atol, rtol or ulps{called()}")


Accuracy = AccuracyMode | Tolerance | None


def accuracy_params(accuracy: Any) -> dict[str, Any]:
    """Parameters of a primitive for an accuracy that a user gave.

    Raises:
        TypeError: it is no ``AccuracyMode`` and no ``Tolerance``.
    """
    if not isinstance(accuracy, (AccuracyMode, Tolerance)):
        raise TypeError(
            f"accuracy is a lax.AccuracyMode, a lax.Tolerance or None, not {accuracy!r}"
        )
    return {"accuracy": accuracy}
