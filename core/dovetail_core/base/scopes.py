"""What every context manager of Dovetail stands on: it nests in itself and decorates functions."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from threading import get_ident
from typing import Any, TypeVar, cast

F = TypeVar("F", bound=Callable[..., Any])


class Scope:
    """A context manager that changes a setting and puts back what was there before.

    One object may be entered while it is entered, and by several threads at once; as a decorator
    it is entered at each call of the function. Subclasses define :meth:`_enter` and
    :meth:`_leave`.
    """

    __slots__ = ("_outer",)

    def __init__(self) -> None:
        self._outer: dict[int, list[Any]] = {}  # what to put back, by thread

    def _enter(self) -> Any:
        """Make the change; returns what :meth:`_leave` needs to undo it."""
        raise NotImplementedError

    def _leave(self, outer: Any) -> None:
        """Undo the change."""
        raise NotImplementedError

    def __enter__(self) -> None:
        outer = self._enter()
        self._outer.setdefault(get_ident(), []).append(outer)

    def __exit__(self, *exc: object) -> None:
        thread = get_ident()
        entered = self._outer[thread]
        outer = entered.pop()
        if not entered:
            del self._outer[thread]
        self._leave(outer)

    def __call__(self, function: F) -> F:
        @wraps(function)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return function(*args, **kwargs)

        return cast("F", inside)
