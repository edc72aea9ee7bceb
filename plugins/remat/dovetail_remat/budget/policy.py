"""``Budget``: a policy that is a number of bytes."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .report import BudgetReport

_UNITS = {"": 1} | {
    f"{prefix}{infix}b": base**k
    for k, prefix in enumerate(("", "k", "m", "g", "t"))
    for infix, base in (("", 1000), ("i", 1024))
    if prefix or not infix
}
_NUMBER = re.compile(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


class Budget:
    """Keep what fits into a number of bytes, so that least is computed again.

    ``checkpoint(f, policy=Budget("2GiB"))`` plans the backward pass of ``f``: values between
    forward and backward pass, values that are computed again, and cotangents together are to take
    no more memory than this at any time (arguments, results and gradients do not count; they are
    there in any case). Which values are kept is the result of a minimum cut of the program at the
    price of memory at which they fit. What is not kept is computed again piece by piece, when the
    backward pass comes to it.

    Args:
        limit: bytes, as a number or as text with a unit (``"500MB"``, ``"1.5 GiB"``).
        margin: the part of the limit that is left to the compiler, for what it holds beside (copies
            in another layout, buffers that do not fit into each other).

    Raises:
        ValueError: the limit is not a positive number of bytes, or the margin not in [0, 1).
    """

    __slots__ = ("limit", "margin")

    def __init__(self, limit: float | str, *, margin: float = 0.1) -> None:
        self.limit = _parsed(limit)
        self.margin = margin
        if not 0 <= margin < 1:
            raise ValueError(f"Budget: margin is a part of the limit, in [0, 1), got {margin!r}")

    @property
    def target(self) -> float:
        """The bytes to plan with."""
        return self.limit * (1 - self.margin)

    def report(self, f: Callable[..., Any], *args: Any, **kwargs: Any) -> BudgetReport:
        """What this budget means for the backward pass of ``f`` at these arguments.

        Nothing is computed; arguments may be ``ShapeDtypeStruct``.
        """
        from ..api import checkpoint
        from .report import report_of

        return report_of(checkpoint(f, policy=self), args, kwargs)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Budget) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((Budget, *self._key()))

    def _key(self) -> tuple[float, ...]:
        return self.limit, self.margin

    def __repr__(self) -> str:
        return f"Budget({self.limit})"


def _parsed(limit: float | str) -> int:
    problem = f"Budget({limit!r}): give a positive number of bytes, as 2 * 2**30 or '2GiB'"
    if isinstance(limit, bool) or not isinstance(limit, (int, float, str)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise ValueError(problem)
    if isinstance(limit, str):
        match = _NUMBER.fullmatch(limit)
        unit = match[2].lower() if match else None
        if match is None or unit not in _UNITS:
            raise ValueError(f"{problem} (units: {', '.join(u for u in _UNITS if u)})")
        limit = float(match[1]) * _UNITS[unit]
    size = float(limit)
    if not 1 <= size < float("inf"):
        raise ValueError(problem)
    return int(size)
