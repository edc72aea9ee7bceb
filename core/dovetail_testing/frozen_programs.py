"""Programs that refuse to be written into, for tests.

Nothing checks the rule in use, since a check would slow every trace down. While tests run, an
equation's or a program's field that is set a second time, and a list of theirs that is changed,
raise where that happens.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from dovetail_core.ir.programs import ClosedJaxpr, Eqn, Jaxpr

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
    """From now on equations and programs, of this process, cannot be written into.

    Raises (later, where somebody does):
        TypeError: a field is set that has a value, or a list is changed.
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
