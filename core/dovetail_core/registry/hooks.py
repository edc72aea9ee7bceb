"""Hooks for what is dynamic: pluggy specifications, and the manager that holds implementations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

import pluggy

from .aside import set_aside
from .discovery import registry

hookspec = pluggy.HookspecMarker("dovetail")
hookimpl = pluggy.HookimplMarker("dovetail")


class Hooks:
    """The hooks that a plugin's ``hooks`` module may implement (decorate with ``hookimpl``)."""

    @hookspec(firstresult=True)
    def dovetail_compile(self, module: str, platform: str, options: Mapping[str, Any]) -> Any:
        """Compile a StableHLO module in place of the backend; a wrapper sees every compilation."""

    @hookspec
    def dovetail_compile_options(self, platform: str) -> Mapping[str, Any]:
        """Compile options to add for a platform. Later (outer) plugins' values win."""
        return {}

    @hookspec
    def dovetail_traced(self, name: str, program: Any, seconds: float) -> None:
        """A function was traced; ``program`` is the ``ClosedJaxpr``."""

    @hookspec
    def dovetail_lowered(self, name: str, module: str, seconds: float) -> None:
        """A program was lowered to StableHLO."""

    @hookspec
    def dovetail_compiled(self, name: str, platform: str, cached: bool, seconds: float) -> None:
        """A module was compiled, or read from the on-disk cache."""

    @hookspec
    def dovetail_environment(self) -> Mapping[str, str]:
        """Lines to add to the report of ``dovetail doctor``."""
        return {}


@cache
def manager() -> pluggy.PluginManager:
    """The hook manager, with the hook modules of all active plugins registered."""
    pm = pluggy.PluginManager("dovetail")
    pm.add_hookspecs(Hooks)
    for name, manifest in registry().active.items():
        if manifest.hooks:
            try:
                pm.register(import_module(manifest.hooks), name=name)
                pm.check_pending()
            except Exception as e:  # a plugin's module may fail in any way; the rest must go on
                if pm.has_plugin(name):  # it was registered, with a hook that nobody knows
                    pm.unregister(name=name)
                set_aside(
                    f"the hooks of plugin {name!r} ({manifest.hooks}) are set aside: "
                    f"{type(e).__name__}: {e}. Fix the module, or disable the plugin "
                    "(DOVETAIL_DISABLE_PLUGINS).",
                    e,
                )
    return pm


def has_hooks(name: str) -> bool:
    """Whether any plugin implements the hook ``name``."""
    return bool(getattr(manager().hook, name).get_hookimpls())
