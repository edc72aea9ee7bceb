"""Named axes that are in scope: which names exist, and how long their axes are."""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

from ..base.scopes import Scope
from ..base.source import called

_none: dict[Hashable, int] = {}
_sizes: ContextVar[dict[Hashable, int]] = ContextVar("dovetail_axes", default=_none)


class bound_axis(Scope):  # lower case: used as a function
    """Context manager in which a mapped axis's name is in scope."""

    __slots__ = ("name", "size")

    def __init__(self, name: Hashable, size: int) -> None:
        super().__init__()
        self.name = name
        self.size = size

    def _read(self) -> dict[Hashable, int]:
        return _sizes.get()

    def _enter(self, outer: dict[Hashable, int]) -> None:
        if self.name is not None:
            _sizes.set({**outer, self.name: self.size})

    def _leave(self, outer: dict[Hashable, int]) -> None:
        _sizes.set(outer)


def axis_env() -> tuple[tuple[Hashable, int], ...]:
    """The names in scope with their sizes: part of the key of programs traced under them."""
    return tuple(_sizes.get().items())


def _is_hashable(name: Any) -> bool:
    return isinstance(name, Hashable)


def axis_size_of(name: Hashable) -> int:
    """The length of the axis ``name``.

    Raises:
        NameError: no such axis is in scope; names those that are.
    """
    sizes = _sizes.get()
    if not _is_hashable(name) or name not in sizes:
        known = ", ".join(map(repr, sizes)) or "none"
        raise NameError(
            f"axis name {name!r} is not bound here (in scope: {known}){called()}. Call the "
            f"function under vmap(..., axis_name={name!r})."
        )
    return sizes[name]
