"""Hooks for events at run time, which plugins implement: tracing, lowering, compiling.

Most programs have no hooks. Their specifications, which need pluggy, are imported when a plugin may
have one, or when one of their names is first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_base.once import Once
from dovetail_core import discovery, registry

if TYPE_CHECKING:
    from pluggy import PluginManager

    from .specifications import Hooks as Hooks, hookimpl as hookimpl, hookspec as hookspec


def _all_hooks() -> PluginManager:
    from .specifications import all_hooks

    return all_hooks()


def _no_hooks() -> PluginManager:
    from .specifications import no_hooks

    return no_hooks()


manager: Once[PluginManager] = Once(_all_hooks, inside=_no_hooks)
"""The hook manager, ``manager()``, with the hook modules of all active plugins registered."""
discovery.when_swapped(manager.cache_clear)


def has_hooks(*names: str) -> bool:
    """Return whether any plugin implements one of the hooks of these names."""
    if not manager.is_made and not registry().hook_modules():
        return False
    hooks = manager().hook
    return any(getattr(hooks, name).get_hookimpls() for name in names)


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        if name not in ("Hooks", "hookimpl", "hookspec"):
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import specifications

        return getattr(specifications, name)
