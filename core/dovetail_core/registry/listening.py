"""Options while which somebody hears of what happens: hooks that are registered where it is on.

Hooks that are always there cost every program something, and others ask whether there are any
before they take a shorter way.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from typing import Any

from dovetail_base.options import Option, Setting
from dovetail_xla.config import unset

from .hooked import manager


class Listener:
    """A plugin of hooks that is registered while an option asks for it, in any thread.

    Args:
        make: makes the object with the hooks, when it is first asked for.

    Attributes:
        is_always: whether a module of hooks has them anyway, as the environment asks for them.
    """

    is_always = False

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make, self._made = make, None
        self._wanted: set[tuple[int, int | None]] = set()
        self._lock = Lock()

    @property
    def hooks(self) -> Any:
        """The object with the hooks."""
        if self._made is None:
            self._made = self._make()
        return self._made

    def want(self, option: Option, thread: int | None, is_wanted: bool) -> None:
        """Say whether ``option`` asks for it in a thread; in all of them where that is None."""
        key = id(option), thread
        if self.is_always or not (is_wanted or key in self._wanted):
            return
        hooks, manages = self.hooks, manager()
        with self._lock:
            (self._wanted.add if is_wanted else self._wanted.discard)(key)
            if bool(self._wanted) != manages.is_registered(hooks):
                (manages.register if self._wanted else manages.unregister)(hooks)


class _Listening(Setting):
    """As :class:`Setting`; the option's listener hears while it is on."""

    __slots__ = ("_option",)

    def __init__(self, option: ListeningOption, value: Any) -> None:
        super().__init__(option.state, value)
        self._option = option

    def _enter(self, outer: Any) -> None:
        super()._enter(outer)
        self._option.listener.want(self._option, get_ident(), bool(self._value))

    def _leave(self, outer: Any) -> None:
        super()._leave(outer)
        self._option.listener.want(self._option, get_ident(), outer is not unset and bool(outer))


class ListeningOption(Option):
    """An option while which, and where, the hooks of ``listener`` are registered.

    The environment's value registers nothing, since that is read before there are hooks: the
    plugin's module of hooks has them then.

    Attributes:
        is_given: whether the environment switches it on.
    """

    def __init__(self, listener: Listener, *args: Any, **kwargs: Any) -> None:
        self.listener = listener
        super().__init__(*args, **kwargs)
        self.is_given = bool(self.value)

    def set(self, value: Any) -> None:
        """Set it for the process."""
        super().set(value)
        self.listener.want(self, None, bool(self.state.get_global()))

    def __call__(self, new_val: Any = True) -> Setting:
        return _Listening(self, self._valid(new_val))
