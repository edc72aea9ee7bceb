"""The configuration: the options of the kernel and of all plugins, by name."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from dovetail_base.environment import variable
from dovetail_base.errors import DovetailError
from dovetail_base.options import Option, check_tracer_leaks, disable_jit, enable_checks, enable_x64
from dovetail_base.source import called, short_repr
from dovetail_core import registry
from dovetail_xla.config import unset


class Configuration:
    """All options, as attributes; ``config.update(name, value)`` sets one."""

    def __init__(self, *options: Option) -> None:
        self._options = {o.name: o for o in options}
        self._renamed: dict[str, str] = {}

    def add(self, option: Option) -> Option:
        """Register an option (plugins name theirs in their manifests)."""
        self._options[option.name] = option
        return option

    def rename(self, old: str, name: str) -> None:
        """Give an option a further name."""
        self._renamed[old] = name

    def option(self, name: str) -> Option:
        """The option ``name``.

        Raises:
            AttributeError: there is none; lists similar names.
        """
        if not isinstance(name, str):  # pyright: ignore[reportUnnecessaryIsInstance]
            raise TypeError(f"the name of an option is a string, got {short_repr(name)}{called()}")
        name = name.removeprefix("jax_").removeprefix("dovetail_")
        name = self._renamed.get(name, name)
        if name not in self._options:
            result = registry()
            if name not in result.entries("options") and ("options", name) not in result.clashes:
                from difflib import get_close_matches  # slow to import

                similar = ", ".join(get_close_matches(name, self.names()))
                more = f"Similar ones are {similar}" if similar else "dir(dovetail.config) has all"
                raise AttributeError(f"no option {name!r}{called()}. {more}.")
            self._options[name] = result.load("options", name, _fits)
        return self._options[name]

    def names(self) -> list[str]:
        """The names of all options, including those of plugins that have not been used yet."""
        return sorted({*self._options, *registry().entries("options")})

    def update(self, name: str, value: Any) -> None:
        """Set an option for the whole process."""
        self.option(name).set(value)

    def read(self, name: str) -> Any:
        """The value of an option in this thread."""
        return self.option(name).value

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("_") and self._is_option(name):
            raise AttributeError(
                f"an option is not set as an attribute{called()}. Call "
                f"config.update({name!r}, {short_repr(value)})."
            )
        object.__setattr__(self, name, value)

    def _is_option(self, name: str) -> bool:
        try:
            self.option(name)
        except (AttributeError, DovetailError):
            return False
        return True

    def carried(self) -> Callable[[], None]:
        """A function that sets, in the thread that calls it, the values that this thread has set by
        ``with option(value):``."""
        local = [(o.state, o.state.get_local()) for o in list(self._options.values())]
        own = [(state, value) for state, value in local if value is not unset]

        def carry() -> None:
            for state, value in own:
                state.set_local(value)

        return carry

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self.option(name).value

    def __dir__(self) -> list[str]:
        return [*object.__dir__(self), *self.names()]

    def __repr__(self) -> str:
        return "\n".join(map(self._shown, self.names()))

    def _shown(self, name: str) -> str:
        try:
            return f"{name} = {self.option(name).value!r}"
        except DovetailError as e:  # a plugin's option that cannot be loaded
            return f"{name}: {e}"


def _fits(thing: Any) -> str:
    named = isinstance(thing, Option)
    return "" if named else f"it is a {type(thing).__name__}, not a dovetail_core.Option"


config = Configuration(enable_x64, disable_jit, enable_checks, check_tracer_leaks)


def load_settings() -> None:
    """Load the options of plugins that the environment sets, as their first use would.

    For options that act by being set. One that cannot be loaded raises when it is used.

    Raises:
        ValueError: the environment sets one to an invalid value.
    """
    for name in registry().entries("options"):
        if variable(name) in os.environ:
            with suppress(DovetailError):
                config.option(name)
