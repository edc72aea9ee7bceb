"""Discovery of plugins: entry points give manifests; what does not work is set aside.

``registry()`` is what was found in this process.
"""

from __future__ import annotations

import os
import time
from threading import RLock
from typing import TYPE_CHECKING

from ..base.errors import RegistryError
from .aside import set_aside
from .manifest import KERNEL_API, OLDEST_KERNEL_API, Manifest
from .plugins import KERNEL_TABLES, Plugin, Registry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "dovetail.plugins"
_KERNEL_CLAIMS = {
    "tables": tuple(KERNEL_TABLES),
    "options": ("enable_x64", "disable_jit", "check_ir"),
    "commands": ("new", "plugins", "matrix", "explain", "doctor"),
}


def discover() -> Registry:
    """Read every installed manifest. A plugin that does not work is set aside with a warning.

    Raises:
        RegistryError: two distributions install an entry point of one name.
        PluginError: ``DOVETAIL_STRICT=1`` is set and a plugin does not work.
    """
    from importlib.metadata import entry_points

    found = Registry()
    for ep in sorted(entry_points(group=GROUP), key=lambda e: (e.name, e.value)):
        plugin = _plugin(ep)
        other = found.plugins.get(plugin.name)
        if other is not None:
            if (other.distribution, other.target) == (plugin.distribution, plugin.target):
                continue  # one distribution seen twice on sys.path
            raise RegistryError(
                f"plugin {plugin.name!r} is installed by {other.distribution} ({other.target}) and "
                f"by {plugin.distribution} ({plugin.target}). Uninstall one of them."
            )
        found.plugins[plugin.name] = plugin
        plugin.problem = blocked(plugin.name) or _load(plugin, ep)
    _require(found)
    _check_claims(found)
    _report(found)
    return found


def _plugin(ep: EntryPoint) -> Plugin:
    dist = ep.dist
    return Plugin(ep.name, dist.name if dist else "?", dist.version if dist else "?", ep.value)


def _names(variable: str) -> set[str]:
    return {n.strip() for n in os.environ.get(variable, "").split(",") if n.strip()}


def blocked(name: str) -> str:
    """Why the environment keeps a plugin out, or an empty string."""
    allowed = _names("DOVETAIL_PLUGINS")
    if name in _names("DOVETAIL_DISABLE_PLUGINS"):
        return "disabled (DOVETAIL_DISABLE_PLUGINS)"
    if allowed and name not in allowed:
        return "disabled (not in DOVETAIL_PLUGINS)"
    return ""


def _load(plugin: Plugin, ep: EntryPoint) -> str:
    start = time.perf_counter()
    try:
        manifest = ep.load()
    except Exception as e:  # a plugin's import may fail in any way; the rest must go on
        return f"failed to import {ep.value}: {type(e).__name__}: {e}"
    plugin.seconds = time.perf_counter() - start
    if not isinstance(manifest, Manifest):
        return f"{ep.value} is a {type(manifest).__name__}, not a dovetail_core.Manifest"
    if manifest.name != plugin.name:
        return f"its manifest is named {manifest.name!r}, its entry point {plugin.name!r}"
    low, high = manifest.api
    if low > KERNEL_API or high < OLDEST_KERNEL_API:
        older = "dovetail-core" if low > KERNEL_API else plugin.distribution
        both = "" if OLDEST_KERNEL_API == KERNEL_API else f"{OLDEST_KERNEL_API} to "
        return f"works with kernel API {low} to {high}, this is {both}{KERNEL_API}: upgrade {older}"
    plugin.manifest = manifest
    return ""


def _require(found: Registry) -> None:
    """Set aside plugins whose requirements are missing, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for name, manifest in found.active.items():
            for needed in manifest.requires:
                if needed not in found.active and not found.plugins[name].problem:
                    other = found.plugins.get(needed)
                    why = f"which is {_state(other)}"
                    found.plugins[name].problem = f"needs plugin {needed!r}, {why}"
                    changed = True


def _state(plugin: Plugin | None) -> str:
    if plugin is None:
        return "not installed"
    return plugin.problem if plugin.problem.startswith("disabled") else "set aside itself"


def _check_claims(found: Registry) -> None:
    """Note entries that several have: they fail when they are used, and nothing else does."""
    claimed = {(kind, n): "" for kind, names in _KERNEL_CLAIMS.items() for n in names}
    for plugin_name, manifest in found.active.items():
        for kind in ("names", "surfaces", "tables", "backends", "passes", "options", "commands"):
            for name in getattr(manifest, kind):
                owner = claimed.setdefault((kind, name), plugin_name)
                if owner != plugin_name:
                    found.clashes[kind, name] = text = (
                        f"{kind} entry {name!r} is claimed by {_claimant(found, owner)} and by "
                        f"{_claimant(found, plugin_name)}. Disable one of the plugins "
                        "(DOVETAIL_DISABLE_PLUGINS) or rename the entry."
                    )
                    # The kernel keeps what is its own, and nobody asks for a pass by its name.
                    if not owner or kind == "passes":
                        set_aside(text)


def _claimant(found: Registry, name: str) -> str:
    return f"plugin {name!r} of {found.plugins[name].distribution}" if name else "the kernel"


def _report(found: Registry) -> None:
    # What is at fault comes before those that are set aside because it is.
    for p in sorted(found.plugins.values(), key=lambda p: p.problem.endswith("set aside itself")):
        if p.problem and not p.problem.startswith("disabled"):
            text = f"plugin {p.name!r} of {p.distribution} {p.version} is set aside: {p.problem}"
            set_aside(text, more=". The rest works without it.")


_registry: Registry | None = None
_discovering = RLock()


def registry() -> Registry:
    """The plugins of this process; entry points are read at the first call."""
    global _registry
    if _registry is None:
        with _discovering:  # a second thread waits for what the first one finds
            if _registry is None:
                _registry = discover()
    return _registry


def swap_registry(new: Registry | None) -> Registry | None:
    """Set the registry (None: read entry points again at the next use); returns the old one."""
    global _registry
    old, _registry = _registry, new
    return old


def distribution_of(module: str) -> str:
    """The distribution and version that a module belongs to, for messages."""
    from importlib.metadata import PackageNotFoundError, packages_distributions, version

    top = module.partition(".")[0]
    for p in registry().plugins.values():
        if p.target.partition(":")[0].partition(".")[0] == top:
            return f"{p.distribution} {p.version} (plugin {p.name!r})"
    names = ["dovetail-core"] if top == "dovetail_core" else packages_distributions().get(top, [])
    for name in names:
        try:
            return f"{name} {version(name)}"
        except PackageNotFoundError:
            return name
    return f"module {module}"
