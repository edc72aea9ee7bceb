"""Dictionaries of modules under a name of JAX: ``vars`` finds all that a module has.

Names are imported when they are asked for, one by one. Who looks into ``module.__dict__`` asks for
all: libraries wrap the functions of ``jax.numpy`` by it.
"""

from __future__ import annotations

from importlib import import_module
from threading import get_ident
from types import ModuleType
from typing import Any

from dovetail_base.lazy import contents

_filling: set[tuple[int, str]] = set()
"""Threads that are at it, with the module's name: what is imported may look into it as well."""


class ListedModule(ModuleType):
    """A module whose dictionary is filled when it is asked for; then it is an ordinary one."""

    @property
    def __dict__(self) -> dict[str, Any]:  # type: ignore[override]
        own = contents(self)
        task = get_ident(), self.__name__
        if task not in _filling:
            _filling.add(task)
            try:
                _fill(self, own)
            finally:
                _filling.discard(task)
            self.__class__ = ModuleType  # type: ignore[assignment]
        return own

    def __dir__(self) -> list[str]:
        return contents(self)["__dir__"]()

    def __reduce__(self) -> tuple[Any, ...]:
        return import_module, (self.__name__,)


def _fill(module: ModuleType, own: dict[str, Any]) -> None:
    for name in own["__dir__"]():
        if name not in own:
            try:
                own.setdefault(name, getattr(module, name))
            except (AttributeError, ImportError):  # it is listed and cannot be had here
                continue


def give_dictionary(module: ModuleType) -> None:
    """Let ``vars(module)`` find all names, where the module finds names when they are asked for."""
    if module.__class__ is ModuleType and {"__getattr__", "__dir__"} <= contents(module).keys():
        module.__class__ = ListedModule
