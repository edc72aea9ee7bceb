"""What plugins were found, and access to what their manifests name."""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module
from threading import get_ident
from typing import Any

from ..base.errors import PluginError, RegistryError
from .aside import set_aside
from .manifest import Manifest

KERNEL_TABLES = {
    "eval": "dovetail_core.rules.evaluation:eval_rules",
    "dce": "dovetail_core.rules.dce:dce_rules",
    "to_lo": "dovetail_core.interpret.lowering:to_lo_rules",
}
KERNEL_RULES = {"eval": ("dovetail_core.interpret.lowering",)}
"""Modules of the kernel that are imported when a table is filled, before those of plugins."""

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

    def load(self, kind: str, name: str = "", target: str = "") -> Any:
        """The object that an entry of the manifest names.

        Args:
            target: its import string, where the field ``kind`` is no mapping from ``name``.

        Raises:
            PluginError: it cannot be loaded; names plugin, field, and why.
        """
        target = target or getattr(self.manifest, kind)[name]
        try:
            return load_object(target)
        except Exception as e:  # a plugin's module may fail in any way
            raise PluginError(
                f"{kind}{f' entry {name!r}' if name else ''} of plugin {self.name!r} of "
                f"{self.distribution} {self.version} ({target}) cannot be loaded: "
                f"{type(e).__name__}: {e}. Correct the manifest or the module, or disable the "
                "plugin (DOVETAIL_DISABLE_PLUGINS)."
            ) from e


@dataclass
class Registry:
    """All plugins that were found; ``active`` are those that work together."""

    plugins: dict[str, Plugin] = field(default_factory=dict[str, Plugin])
    clashes: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Entries that several claim, by field and name, and what to do about it. Nobody has them."""
    _objects: dict[str, Any] = field(default_factory=dict[str, Any])
    _has_types: bool = False
    _importing: set[int] = field(default_factory=set[int])  # threads

    @property
    def active(self) -> dict[str, Manifest]:
        return {p.name: p.manifest for p in self.plugins.values() if p.manifest and not p.problem}

    def contributions(self, table: str) -> list[tuple[Plugin, str]]:
        """Plugins and their modules that add rules of ``table``, in the order of their names."""
        active = self.active.items()
        return [(self.plugins[n], m) for n, p in active for m in p.contributes.get(table, ())]

    def contributors(self, table: str) -> list[str]:
        """Modules that add rules of ``table``, in the order of the plugins' names."""
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
        self._objects[key] = self.plugins[next(iter(found))].load("providers", role)
        return self._objects[key]

    def table(self, name: str) -> Any:
        """The ``RuleTable`` named ``name``, its module imported.

        Raises:
            PluginError: no active plugin owns such a table.
        """
        return self._owned("tables", name, KERNEL_TABLES)

    def backend(self, name: str) -> Any:
        """The backend of a platform (see :meth:`table`)."""
        return self._owned("backends", name, {})

    def entries(self, kind: str) -> dict[str, str]:
        """The entries of one mapping of the manifests, such as ``tables`` or ``commands``, but for
        those that several plugins claim."""
        found = {k: v for m in self.active.values() for k, v in getattr(m, kind).items()}
        return {k: v for k, v in found.items() if (kind, k) not in self.clashes}

    def load(self, kind: str, name: str) -> Any:
        """The object that an entry of a manifest names.

        Raises:
            RegistryError: several plugins claim it.
            PluginError: no active plugin has it, or it cannot be loaded; names plugin and field.
        """
        return self._owned(kind, name, {})

    def load_all(self, kind: str) -> list[Any]:
        """The objects of all entries of a mapping; those that cannot be loaded are set aside."""
        found: list[Any] = []
        for name in self.entries(kind):
            try:
                found.append(self.load(kind, name))
            except PluginError as e:
                set_aside(str(e), e)
        return found

    def _owned(self, kind: str, name: str, own: dict[str, str]) -> Any:
        key = f"{kind} {name}"
        if key not in self._objects:
            if name in own:
                self._objects[key] = load_object(own[name])
            else:
                self._objects[key] = self._load(kind, name, own)
        return self._objects[key]

    def _load(self, kind: str, name: str, own: dict[str, str]) -> Any:
        if (kind, name) in self.clashes:
            raise RegistryError(self.clashes[kind, name])
        owner = next((n for n, m in self.active.items() if name in getattr(m, kind)), None)
        if owner is None:
            known = sorted({*own, *self.entries(kind)})
            raise PluginError(
                f"no active plugin has {kind} entry {name!r}; known: "
                f"{', '.join(known) or 'none'}. {self._aside_note()}"
            )
        return self.plugins[owner].load(kind, name)

    def import_types(self) -> bool:
        """Import the modules that plugins name as registering types; False if that is done.

        A module that does not import is left out with a warning (with ``DOVETAIL_STRICT=1``, an
        error).
        """
        thread = get_ident()
        if self._has_types or thread in self._importing:
            return False
        # Threads that come here at once all import: each module's own lock makes them wait for it.
        self._importing.add(thread)
        try:
            for name, manifest in self.active.items():
                for module in manifest.types:
                    self._import_types(name, module)
            self._has_types = True
        finally:
            self._importing.discard(thread)
        return True

    def _import_types(self, name: str, module: str) -> None:
        try:
            import_module(module)
        except Exception as e:  # a plugin's module may fail in any way
            set_aside(
                f"the types of plugin {name!r} ({module}) are set aside: {type(e).__name__}: {e}. "
                "Fix the module, or disable the plugin (DOVETAIL_DISABLE_PLUGINS).",
                e,
            )

    def aside(self) -> str:
        """The plugins that are not active, and why; empty if all are."""
        return "; ".join(f"{p.name} ({p.problem})" for p in self.plugins.values() if p.problem)

    def _aside_note(self) -> str:
        aside = self.aside()
        return f"Set aside: {aside}" if aside else "Install the plugin that provides it."


def load_object(target: str) -> Any:
    """The object that an import string ``"module:attribute"`` (or ``"module"``) names."""
    module, _, attribute = target.partition(":")
    found = import_module(module)
    for part in attribute.split(".") if attribute else ():
        found = getattr(found, part)
    return found
