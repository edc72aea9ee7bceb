"""Running code as in a new process: another set of installed plugins, another environment."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from ..interpret.passes import forget_passes
from ..registry.discovery import registry, swap_registry
from ..registry.hooked import manager
from ..registry.plugins import Registry
from ..types.algebra import forget_provider


@contextmanager
def fresh_registry() -> Generator[Registry, None, None]:
    """Context manager: entry points and environment are read anew inside, and the old registry
    is back afterwards. Tables that the process has filled stay filled; primitives stay defined.
    """
    outer = swap_registry(None)
    try:
        _forget()
        yield registry()
    finally:
        swap_registry(outer)
        _forget()


def _forget() -> None:
    forget_provider()
    forget_passes()
    manager.cache_clear()
