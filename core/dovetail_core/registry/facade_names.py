"""The facade's look-up: public names, loaded from the plugins that provide them on first use."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from .discovery import blocked, registry
from .plugins import load_object


def facade_getattr(module: str, where: dict[str, tuple[str, str]]) -> Callable[[str], Any]:
    """A module ``__getattr__`` that loads public names from plugins on first use.

    Args:
        module: the facade module's name.
        where: plugin and import string of each name; names of other plugins come from manifests.
    """

    def get(name: str) -> Any:
        if name in where and not blocked(where[name][0]):
            value = load_object(where[name][1])
        elif name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        else:
            value = load_object(_public(module, name, where))
        vars(import_module(module))[name] = value
        return value

    return get


def _public(module: str, name: str, where: dict[str, tuple[str, str]]) -> str:
    if name in where:
        problem = blocked(where[name][0])
        raise AttributeError(
            f"{module}.{name} comes from the plugin {where[name][0]!r}, which is {problem}"
        )
    inner = module.partition(".")[2]  # a plugin adds to the surface lax under the name "lax.x"
    full = f"{inner}.{name}" if inner else name
    for p in registry().plugins.values():
        names = {**p.manifest.names, **p.manifest.surfaces} if p.manifest else {}
        if full in names:
            if p.problem:
                aside = "" if p.problem.startswith("disabled") else "set aside: "
                raise AttributeError(
                    f"{module}.{name} comes from the plugin {p.name!r}, which is {aside}{p.problem}"
                )
            return names[full]
    aside = registry().aside()
    note = f". Perhaps a plugin provides it that is not active: {aside}" if aside else ""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{note}")
