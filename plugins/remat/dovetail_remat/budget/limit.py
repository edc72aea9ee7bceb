"""The number of bytes of a budget."""

from __future__ import annotations

import re

from dovetail_base.arguments import number
from dovetail_core import here

_UNITS = {"": 1} | {
    f"{prefix}{infix}b": base**k
    for k, prefix in enumerate(("", "k", "m", "g", "t"))
    for infix, base in (("", 1000), ("i", 1024))
    if prefix or not infix
}
_NUMBER = re.compile(r"\s*([0-9.]+(?:e[0-9]+)?)\s*([a-z]*)\s*", re.IGNORECASE)


class Limit:
    """A number of bytes within which a backward pass is planned; the base of :class:`Budget`."""

    __slots__ = ("limit", "margin")

    def __init__(self, limit: float | str, *, margin: float = 0.1) -> None:
        self.limit = _parsed(limit)
        self.margin = margin
        if not 0 <= number("margin", margin) < 1:
            raise ValueError(
                f"Budget: margin is a part of the limit, in [0, 1), got {margin!r}{here()}"
            )

    @property
    def target(self) -> float:
        """The number of bytes that the plan may use."""
        return self.limit * (1 - self.margin)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Limit) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash((Limit, *self._key()))

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
