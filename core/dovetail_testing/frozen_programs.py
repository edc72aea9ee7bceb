"""Programs that cannot be written into, for tests.

In use nothing checks that programs are immutable, since a check would slow every trace down. While
tests run, setting a field of an equation or program a second time, and changing one of their lists,
raise an error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dovetail_core import ClosedJaxpr, Eqn, Jaxpr

_LISTS: dict[type, tuple[str, ...]] = {
    Eqn: ("invars", "outvars"),
    Jaxpr: ("constvars", "invars", "outvars", "eqns"),
    ClosedJaxpr: ("consts",),
}
_FILLED_LATER = frozenset({"_hash"})


class FrozenList(list[Any]):
    """A list that cannot be changed; a copy of it can."""

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise TypeError(
            "a list of a program is changed after the program was built: programs are immutable, "
            "and others may have this one. Make another: replace(...) of a program or an equation."
        )

    append = extend = insert = pop = remove = clear = sort = reverse = _refuse  # pyright: ignore
    __setitem__ = __delitem__ = __iadd__ = __imul__ = _refuse  # pyright: ignore

    def __reduce__(self) -> Any:
        return list, (list(self),)


def freeze_programs() -> None:
    """Make equations and programs of this process immutable from now on.

    Later, code that sets a field that has a value, or changes a list, raises a TypeError.
    """
    for cls, lists in _LISTS.items():
        if cls.__setattr__ is object.__setattr__:
            cls.__setattr__ = _setter(frozenset(lists))  # type: ignore[method-assign]


def _setter(lists: frozenset[str]) -> Callable[[Any, str, Any], None]:
    def set_once(self: Any, name: str, value: Any) -> None:
        if name not in _FILLED_LATER and hasattr(self, name):
            raise TypeError(
                f"{name!r} of {type(self).__name__} is set after it was built: programs are "
                "immutable, and others may have this one. Make another: replace(...) of a program "
                "or an equation."
            )
        object.__setattr__(self, name, FrozenList(value) if name in lists else value)

    return set_once
