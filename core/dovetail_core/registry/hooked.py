"""Who has hooks: the manager that holds their implementations, made when somebody may have one.

Most programs have none. They do not import what hooks are made with (``registry.hooks``).
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..base.environment import variable
from ..base.once import Once
from .discovery import registry
from .manifest import Manifest

if TYPE_CHECKING:
    from pluggy import PluginManager


def _all_hooks() -> PluginManager:
    from . import hooks

    return hooks.all_hooks()


def _no_hooks() -> PluginManager:
    from . import hooks

    return hooks.no_hooks()


manager: Once[PluginManager] = Once(_all_hooks, inside=_no_hooks)
"""The hook manager, ``manager()``, with the hook modules of all active plugins registered."""


def are_asked_for(manifest: Manifest) -> bool:
    """Whether a plugin may have hooks: not where the options that they are for are not given."""
    options = manifest.hooks_of_options
    return bool(manifest.hooks) and (not options or any(variable(o) in os.environ for o in options))


def has_hooks(name: str) -> bool:
    """Whether any plugin implements the hook ``name``."""
    if not manager.is_made and not any(map(are_asked_for, registry().active.values())):
        return False
    return bool(getattr(manager().hook, name).get_hookimpls())
