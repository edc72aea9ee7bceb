"""The facade's look-up: what manifests say that one of its modules has, loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module
from typing import Any

from ..base.errors import RegistryError
from .discovery import registry
from .manifest import Manifest
from .plugins import Plugin, load_object

KERNEL = Manifest(
    "kernel",
    names={
        "config": "dovetail_core.registry.configuration:config",
        "enable_x64": "dovetail_core.base.options:enable_x64",
        "float0": "dovetail_core.types.avals:float0",
        "named_scope": "dovetail_core.base.source:named_scope",
        "typeof": "dovetail_core.types.avals:typeof",
    },
    surfaces={
        "errors": "dovetail_core.base.errors",
        "tree": "dovetail_core.tree",
        "tree_util": "dovetail_core.tree.util",
    },
)
"""What the kernel itself gives the facade."""


def surface(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of a module of the facade.

    It has the public names of the module that a manifest names for this surface, those that
    manifests add (``"lax.custom_root"``), and the surfaces inside of it. A name is the module's
    attribute once it was used. Its ``__all__`` is all of them.

    Args:
        module: the module's name, ``"dovetail.numpy"``; without the first part, the surface's.

    Raises:
        AttributeError: when nobody has a name; it says whose it is, if that plugin is not active.
        RegistryError: when two have it.
    """
    path = module.partition(".")[2]

    def get(name: str) -> Any:
        if name == "__all__":
            return public()
        if name.startswith("_"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        found = {m.name: t for m in _manifests() if (t := _target(m, path, name))}
        if not found:
            raise AttributeError(_absence(module, path, name))
        if len(found) > 1:
            raise RegistryError(_clash(f"{module}.{name}", found))
        ((owner, target),) = found.items()
        try:
            value = vars(sys.modules[module])[name] = _load(target, f"{module}.{name}")
        except Exception as e:
            e.add_note(f"{module}.{name} comes from plugin {owner!r}, which names it {target!r}.")
            raise
        return value

    def public() -> list[str]:
        return sorted({n for m in _manifests() for n in _names(m, path)})

    def listed() -> list[str]:
        return sorted({*(n for n in vars(sys.modules[module]) if n.startswith("__")), *public()})

    return get, listed


def _manifests() -> Iterator[Manifest]:
    yield KERNEL
    yield from registry().active.values()


def _target(manifest: Manifest, path: str, name: str) -> str:
    """The import string of a surface's name, or an empty string."""
    full = f"{path}.{name}" if path else name
    added = manifest.names.get(full) or manifest.surfaces.get(full)
    if added:
        return added
    home = manifest.surfaces.get(path, "")
    return f"{home}:{name}" if home and name in import_module(home).__all__ else ""


def _names(manifest: Manifest, path: str) -> set[str]:
    """All names of a surface that come from one plugin."""
    start = f"{path}." if path else ""
    given = (*manifest.names, *manifest.surfaces)
    added = {n.removeprefix(start) for n in given if n.startswith(start)}
    home = manifest.surfaces.get(path)
    return {n for n in added if "." not in n} | set(import_module(home).__all__ if home else ())


def _load(target: str, name: str) -> Any:
    """The object; a surface is the module of that name, where the facade has one."""
    if ":" not in target:
        try:
            return import_module(name)
        except ModuleNotFoundError as e:
            if e.name != name:
                raise
    return load_object(target)


def _clash(name: str, found: Iterable[str]) -> str:
    """What to do about two plugins that have a name; manifests do not show those of surfaces."""
    owners = ["the kernel" if n == KERNEL.name else f"plugin {n!r}" for n in found]
    return (
        f"{name} is claimed by {' and by '.join(owners)}. Disable one of the plugins "
        "(DOVETAIL_DISABLE_PLUGINS) or rename the entry."
    )


def _absence(module: str, path: str, name: str) -> str:
    """Why a module of the facade lacks a name: whose it is, or that nobody is known to have it."""
    for plugin in registry().plugins.values():
        manifest = _manifest_of_absent(plugin, module.partition(".")[0])
        if manifest and _target(manifest, path, name):
            aside = "" if plugin.problem.startswith("disabled") else "set aside: "
            return (
                f"{module}.{name} comes from the plugin {plugin.name!r}, which is {aside}"
                f"{plugin.problem}"
            )
    aside = registry().aside()
    note = f". Perhaps a plugin provides it that is not active: {aside}" if aside else ""
    return f"module {module!r} has no attribute {name!r}{note}"


def _manifest_of_absent(plugin: Plugin, facade: str) -> Manifest | None:
    """The manifest of a plugin that is not active, as far as it is known.

    Of a disabled plugin nothing is imported, unless it came with the facade.
    """
    if plugin.problem.startswith("disabled") and plugin.distribution == facade:
        return load_object(plugin.target)
    return plugin.manifest if plugin.problem else None
