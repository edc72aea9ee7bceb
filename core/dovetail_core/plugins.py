"""Discovery of plugins: entry points give manifests, manifests give names and import strings."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import PluginError, RegistryError
from .manifest import KERNEL_API, Manifest

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from .tables import RuleTable

GROUP = "dovetail.plugins"
KERNEL_TABLES = {
    "eval": "dovetail_core.evaluate:eval_rules",
    "dce": "dovetail_core.dce:dce_rules",
}
_KERNEL_CLAIMS = {
    "tables": tuple(KERNEL_TABLES),
    "options": ("enable_x64", "disable_jit", "check_ir"),
    "commands": ("plugins", "matrix", "explain", "doctor"),
}
_REQUIRED: Any = object()


@dataclass
class Plugin:
    """A plugin that was found: its manifest, its origin, and why it is set aside if it is."""

    name: str
    distribution: str
    version: str
    target: str
    manifest: Manifest | None = None
    problem: str = ""
    seconds: float = 0.0


@dataclass
class Registry:
    """All plugins that were found; ``active`` are those that work together."""

    plugins: dict[str, Plugin] = field(default_factory=dict[str, Plugin])
    _objects: dict[str, Any] = field(default_factory=dict[str, Any])
    _has_types: bool = False

    @property
    def active(self) -> dict[str, Manifest]:
        return {p.name: p.manifest for p in self.plugins.values() if p.manifest and not p.problem}

    def contributions(self, table: str) -> list[tuple[Plugin, str]]:
        """Plugins and their modules that fill cells of ``table``, in the order of their names."""
        active = self.active.items()
        return [(self.plugins[n], m) for n, p in active for m in p.contributes.get(table, ())]

    def contributors(self, table: str) -> list[str]:
        """Modules that fill cells of ``table``, in the order of the plugins' names."""
        return [module for _, module in self.contributions(table)]

    def provider(self, role: str, default: Any = _REQUIRED) -> Any:
        """The object that a plugin provides for ``role``.

        Raises:
            PluginError: no active plugin provides it and no default is given, or two do.
        """
        key = f"provider {role}"
        if key in self._objects:
            return self._objects[key]
        found = {n: m.providers[role] for n, m in self.active.items() if role in m.providers}
        if len(found) > 1:
            raise PluginError(
                f"plugins {' and '.join(map(repr, found))} both provide {role!r}: disable one "
                "(DOVETAIL_DISABLE_PLUGINS)."
            )
        if not found:
            if default is not _REQUIRED:
                return default
            raise PluginError(f"no active plugin provides {role!r}. {self._aside_note()}")
        self._objects[key] = load_object(next(iter(found.values())))
        return self._objects[key]

    def table(self, name: str) -> RuleTable[Any]:
        """The rule table ``name``, its module imported.

        Raises:
            PluginError: no active plugin owns such a table.
        """
        return self._owned("tables", name, KERNEL_TABLES)

    def backend(self, name: str) -> Any:
        """The backend of a platform (see :meth:`table`)."""
        return self._owned("backends", name, {})

    def entries(self, kind: str) -> dict[str, str]:
        """All entries of one mapping of the manifests, such as ``tables`` or ``commands``."""
        return {k: v for m in self.active.values() for k, v in getattr(m, kind).items()}

    def _owned(self, kind: str, name: str, own: dict[str, str]) -> Any:
        key = f"{kind} {name}"
        if key not in self._objects:
            known = own | self.entries(kind)
            if name not in known:
                raise PluginError(
                    f"no active plugin has {kind} entry {name!r}; known: "
                    f"{', '.join(sorted(known)) or 'none'}. {self._aside_note()}"
                )
            self._objects[key] = load_object(known[name])
        return self._objects[key]

    def import_types(self) -> bool:
        """Import the modules that plugins name as registering types; False if that is done.

        A module that does not import is left out with a warning (with ``DOVETAIL_STRICT=1``, an
        error).
        """
        if self._has_types:
            return False
        self._has_types = True
        for name, manifest in self.active.items():
            for module in manifest.types:
                try:
                    import_module(module)
                except Exception as e:  # a plugin's module may fail in any way
                    _warn(
                        f"the types of plugin {name!r} ({module}) are set aside: "
                        f"{type(e).__name__}: {e}. Fix the module, or disable the plugin "
                        "(DOVETAIL_DISABLE_PLUGINS).",
                        e,
                    )
        return True

    def aside(self) -> str:
        """The plugins that are not active, and why; empty if all are."""
        return "; ".join(f"{p.name} ({p.problem})" for p in self.plugins.values() if p.problem)

    def _aside_note(self) -> str:
        aside = self.aside()
        return f"Set aside: {aside}" if aside else "Install the plugin that provides it."


def _warn(text: str, cause: BaseException) -> None:
    """Warn that something is set aside; an error with ``DOVETAIL_STRICT=1``."""
    if os.environ.get("DOVETAIL_STRICT") == "1":
        raise PluginError(text) from cause
    warnings.warn(text, RuntimeWarning, stacklevel=4)


def load_object(target: str) -> Any:
    """The object that an import string ``"module:attribute"`` (or ``"module"``) names."""
    module, _, attribute = target.partition(":")
    found = import_module(module)
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found


_registry: Registry | None = None


def registry() -> Registry:
    """The plugins of this process; entry points are read at the first call."""
    global _registry
    if _registry is None:
        _registry = discover()
    return _registry


def swap_registry(new: Registry | None) -> Registry | None:
    """Set the registry (None: read entry points again at the next use); returns the old one."""
    global _registry
    old, _registry = _registry, new
    return old


def discover() -> Registry:
    """Read every installed manifest. A plugin that does not work is set aside with a warning.

    Raises:
        RegistryError: two distributions install an entry point of one name, or claim one name.
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
        plugin.problem = _blocked(plugin.name) or _load(plugin, ep)
    _require(found)
    _check_claims(found)
    _report(found)
    return found


def _plugin(ep: EntryPoint) -> Plugin:
    dist = ep.dist
    return Plugin(ep.name, dist.name if dist else "?", dist.version if dist else "?", ep.value)


def _names(variable: str) -> set[str]:
    return {n.strip() for n in os.environ.get(variable, "").split(",") if n.strip()}


def _blocked(name: str) -> str:
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
    if not low <= KERNEL_API <= high:
        older = "dovetail-core" if low > KERNEL_API else plugin.distribution
        return f"works with kernel API {low} to {high}, this is {KERNEL_API}: upgrade {older}"
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
    claimed = {(kind, n): "" for kind, names in _KERNEL_CLAIMS.items() for n in names}
    for plugin_name, manifest in found.active.items():
        for kind in ("names", "surfaces", "tables", "backends", "passes", "options", "commands"):
            for name in getattr(manifest, kind):
                owner = claimed.setdefault((kind, name), plugin_name)
                if owner != plugin_name:
                    raise RegistryError(
                        f"{kind} entry {name!r} is claimed by {_claimant(found, owner)} and by "
                        f"{_claimant(found, plugin_name)}. Disable one of the plugins "
                        "(DOVETAIL_DISABLE_PLUGINS) or rename the entry."
                    )


def _claimant(found: Registry, name: str) -> str:
    return f"plugin {name!r} of {found.plugins[name].distribution}" if name else "the kernel"


def _report(found: Registry) -> None:
    for p in found.plugins.values():
        if p.problem and not p.problem.startswith("disabled"):
            text = f"plugin {p.name!r} of {p.distribution} {p.version} is set aside: {p.problem}"
            if os.environ.get("DOVETAIL_STRICT") == "1":
                raise PluginError(text)
            warnings.warn(f"{text}. The rest works without it.", RuntimeWarning, stacklevel=4)


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


def facade_getattr(module: str, where: dict[str, tuple[str, str]]) -> Callable[[str], Any]:
    """A module ``__getattr__`` that loads public names from plugins on first use.

    Args:
        module: the facade module's name.
        where: plugin and import string of each name; names of other plugins come from manifests.
    """

    def get(name: str) -> Any:
        if name in where and not _blocked(where[name][0]):
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
        problem = _blocked(where[name][0])
        raise AttributeError(
            f"{module}.{name} comes from the plugin {where[name][0]!r}, which is {problem}"
        )
    for p in registry().plugins.values():
        names = {**p.manifest.names, **p.manifest.surfaces} if p.manifest else {}
        if name in names:
            if p.problem:
                aside = "" if p.problem.startswith("disabled") else "set aside: "
                raise AttributeError(
                    f"{module}.{name} comes from the plugin {p.name!r}, which is {aside}{p.problem}"
                )
            return names[name]
    aside = registry().aside()
    note = f". Perhaps a plugin provides it that is not active: {aside}" if aside else ""
    raise AttributeError(f"module {module!r} has no attribute {name!r}{note}")
