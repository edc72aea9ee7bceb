"""Options with hooks that are registered while the option is on.

Hooks that are always registered cost every program some time, and keep code that looks for hooks
from taking a quicker path.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock, get_ident
from typing import Any

from dovetail_base.options import Option, Setting
from dovetail_hooks import manager
from dovetail_xla.config import unset


class Listener:
    """An object with hooks that is registered while an option is on, in any thread.

    Args:
        make: makes the object, at its first use.

    Attributes:
        is_always: True if a module of hooks has them, since the environment sets the option.
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
        """Set whether ``option`` is on in a thread; in all of them if ``thread`` is None."""
        key = id(option), thread
        if self.is_always or not (is_wanted or key in self._wanted):
            return
        hooks, manages = self.hooks, manager()
        with self._lock:
            (self._wanted.add if is_wanted else self._wanted.discard)(key)
            if bool(self._wanted) != manages.is_registered(hooks):
                (manages.register if self._wanted else manages.unregister)(hooks)


class _Listening(Setting):
    """A :class:`Setting` that registers the option's listener while it is on."""

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
    """An option with the hooks of ``listener``, which are registered in threads where it is on.

    The environment's value registers nothing, since it is read before there are hooks: the plugin's
    module of hooks has them then.

    Attributes:
        is_given: True if the environment switches it on.
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
