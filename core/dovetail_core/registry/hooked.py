"""Access to hooks: the manager of their implementations, made when a plugin may have one.

Most programs have no hooks, and do not import ``registry.hook_specs``, which needs pluggy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dovetail_base.once import Once

from .discovery import registry

if TYPE_CHECKING:
    from pluggy import PluginManager


def _all_hooks() -> PluginManager:
    from . import hook_specs

    return hook_specs.all_hooks()


def _no_hooks() -> PluginManager:
    from . import hook_specs

    return hook_specs.no_hooks()


manager: Once[PluginManager] = Once(_all_hooks, inside=_no_hooks)
"""The hook manager, ``manager()``, with the hook modules of all active plugins registered."""


def has_hooks(*names: str) -> bool:
    """Return whether any plugin implements one of the hooks of these names."""
    if not manager.is_made and not registry().hook_modules():
        return False
    hooks = manager().hook
    return any(getattr(hooks, name).get_hookimpls() for name in names)
