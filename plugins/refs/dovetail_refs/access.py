"""Access by index, which references at rest and views have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .types import length, refuse_iteration


class Access:
    """``x[index]``, ``x[index] = value``, ``x.at[index]``: by the functions of ``dovetail.ref``."""

    __slots__ = ()

    @property
    def at(self) -> Any:
        """``x.at[index]``: a view of part of it."""
        from .views import At

        return At(self)

    def __getitem__(self, index: Any) -> Any:
        from .functions import get

        return get(self, index)

    def __setitem__(self, index: Any, value: Any) -> None:
        from .functions import set

        set(self, index, value)

    def accumulate(self, cotangent: Any) -> None:
        """Add a cotangent to what is held: what ``vjp(f, x)[1].with_refs`` does."""
        from .functions import addupdate

        addupdate(self, ..., cotangent)

    def __len__(self) -> int:
        return length(self)

    def __iter__(self) -> Iterator[Any]:
        return refuse_iteration(self)
