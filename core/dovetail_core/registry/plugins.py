"""The plugins of the process, and access to the objects that their manifests name."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from threading import get_ident
from typing import Any

from dovetail_base.environment import variable
from dovetail_base.errors import PluginError, RegistryError
from dovetail_base.lazy import import_part
from dovetail_base.plugin_calls import (
    Unfinished,
    attempt,
    disable_with_warning,
    import_completely,
    spell,
)

from .manifest import Manifest

KERNEL_TABLES = {
    "eval": "dovetail_core.rules.evaluation:eval_rules",
    "dce": "dovetail_core.rules.dead_code:dce_rules",
    "to_lo": "dovetail_high.lowering:to_lo_rules",
}
"""The rule tables of the distribution ``dovetail-core``."""
KERNEL_PROVIDERS = {
    "high_evaluator": "dovetail_high.lowering:eval_high",
    "local_values": "dovetail_mutable.mutable_values:apply_local",
}
"""What it provides itself, if no plugin does."""

STANDARD = ("dovetail", "dovetail-core")
"""The distributions whose names other plugins cannot take."""

_REQUIRED: Any = object()
Fits = Callable[[Any], str]


@dataclass
class Plugin:
    """A plugin that was found: its manifest, its origin, and the reason if it is set aside."""

    name: str
    distribution: str
    version: str
    target: str
    manifest: Manifest | None = None
    problem: str = ""
    seconds: float = 0.0
    public: dict[str, frozenset[str]] = field(default_factory=dict[str, frozenset[str]])
    """The public names of its modules that stand for surfaces, as far as they were asked for."""

    @property
    def whose(self) -> str:
        """Its name in messages."""
        return f"plugin {self.name!r} of {self.distribution} {self.version}"

    @property
    def is_standard(self) -> bool:
        return self.distribution in STANDARD

    @property
    def rank(self) -> tuple[bool, str, str, str]:
        """A sort key: the first of several plugins keeps a name that they claim."""
        return not self.is_standard, self.name, self.distribution, self.target

    def load(self, kind: str, name: str = "", target: str = "") -> Any:
        """The object that an entry of the manifest names.

        Args:
            target: its import string, if the field ``kind`` is no mapping from ``name``.

        Raises:
            PluginError: it cannot be loaded; names plugin, field and reason.
        """
        target = target or getattr(self.manifest, kind)[name]
        result, error = attempt(lambda: load_object(target), self.whose, self.is_standard)
        if error is not None:
            raise self.unfit(kind, name, target, spell(error)) from error
        return result

    def unfit(self, kind: str, name: str, target: str, problem: str) -> PluginError:
        """The error for an entry whose object cannot be used."""
        return PluginError(
            f"{kind}{f' entry {name!r}' if name else ''} of {self.whose} ({target}) cannot be "
            f"loaded: {problem}. Correct the manifest or the module, or disable the plugin "
            "(DOVETAIL_DISABLE_PLUGINS)."
        )


@dataclass
class Registry:
    """All plugins that were found; ``active`` are those that work together."""

    plugins: dict[str, Plugin] = field(default_factory=dict[str, Plugin])
    clashes: dict[tuple[str, str], str] = field(default_factory=dict[tuple[str, str], str])
    """Messages about entries that several plugins claim, and none has, by field and name."""
    notices: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """Messages about what is set aside, each with a text that follows it in a warning."""
    _objects: dict[str, Any] = field(default_factory=dict[str, Any])
    _has_types: bool = False
    _importing: set[int] = field(default_factory=set[int])  # threads
    _without_types: dict[str, str] = field(default_factory=dict[str, str])  # modules, and why
    _ranked: tuple[list[tuple[str, Manifest]], list[tuple[str, Manifest]]] = field(
        default=([], []), init=False, repr=False, compare=False
    )
    _hooked: tuple[list[tuple[str, Manifest]], list[tuple[Plugin, str]]] = field(
        default=([], []), init=False, repr=False, compare=False
    )

    @property
    def active(self) -> dict[str, Manifest]:
        return {p.name: p.manifest for p in self.plugins.values() if p.manifest and not p.problem}

    def ranked(self) -> list[tuple[str, Manifest]]:
        """The active plugins, first those that come with Dovetail, each group sorted by name."""
        active = [*self.active.items()]
        before, result = self._ranked  # modules ask for each of their names
        if active != before:
            result = sorted(active, key=lambda entry: self.plugins[entry[0]].rank)
            self._ranked = active, result
        return result

    def precedence(self, module: str) -> int:
        """The precedence of a module's names: 2 in a standard plugin, 1 in others, 0 in none."""
        package = module.partition(".")[0]
        result = [
            1 + self.plugins[name].is_standard
            for name, manifest in self.active.items()
            if any(m.partition(".")[0] == package for m in manifest.primitives)
        ]
        return max(result, default=0)

    def contributions(self, table: str) -> list[tuple[Plugin, str]]:
        """Plugins and their modules that add rules of ``table``, as :meth:`ranked`."""
        plugins = self.ranked()
        return [(self.plugins[n], m) for n, p in plugins for m in p.contributes.get(table, ())]

    def hook_modules(self) -> list[tuple[Plugin, str]]:
        """Plugins and their modules of hooks, as :meth:`ranked`, without those for options that the
        environment does not set."""
        ranked = self.ranked()
        before, result = self._hooked  # each operation that NumPy computes asks
        if ranked is before:
            return result
        result = list[tuple[Plugin, str]]()
        for name, manifest in ranked:
            options = manifest.hooks_of_options
            if manifest.hooks and (not options or any(variable(o) in os.environ for o in options)):
                result.append((self.plugins[name], manifest.hooks))
        self._hooked = ranked, result
        return result

    def provider(self, role: str, default: Any = _REQUIRED) -> Any:
        """The object that a plugin provides for ``role``.

        Raises:
            PluginError: no active plugin provides it and no default is given, or two provide it.
        """
        key = f"provider {role}"
        if key in self._objects:
            return self._objects[key]
        result = {n: m.providers[role] for n, m in self.active.items() if role in m.providers}
        if ("providers", role) in self.clashes:
            raise PluginError(self.clashes["providers", role])
        if not result and role in KERNEL_PROVIDERS:
            self._objects[key] = load_object(KERNEL_PROVIDERS[role])
            return self._objects[key]
        if not result:
            if default is not _REQUIRED:
                return default
            raise PluginError(f"no active plugin provides {role!r}. {self._inactive_note()}")
        self._objects[key] = self.plugins[next(iter(result))].load("providers", role)
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
        """The entries of one mapping of the manifests, such as ``tables`` or ``commands``, without
        those that several plugins claim."""
        result = {k: v for _, m in self.ranked() for k, v in getattr(m, kind).items()}
        return {k: v for k, v in result.items() if (kind, k) not in self.clashes}

    def load(self, kind: str, name: str, fits: Fits = lambda thing: "") -> Any:
        """The object that an entry of a manifest names.

        Args:
            fits: returns the problem of such an object; an empty string if there is none.

        Raises:
            RegistryError: several plugins claim it.
            PluginError: no active plugin has it, or it cannot be loaded, or does not fit; names
                plugin and field.
        """
        result = self._owned(kind, name, {})
        if problem := fits(result):
            owner, target = self._owner(kind, name)
            raise owner.unfit(kind, name, target, problem)
        return result

    def members(self, collection: str) -> dict[str, str]:
        """The members of a collection, as import strings by name (see :meth:`member`)."""
        prefix = f"{collection}."
        result = self.entries("members")
        return {k.removeprefix(prefix): v for k, v in result.items() if k.startswith(prefix)}

    def member(self, collection: str, name: str, fits: Fits = lambda thing: "") -> Any:
        """The object that a plugin adds to a collection under a name (see :meth:`load`)."""
        return self.load("members", f"{collection}.{name}", fits)

    def load_each(self, kind: str, fits: Fits = lambda thing: "") -> dict[str, Any]:
        """The objects of all entries of a mapping, by name; those that cannot be used are set
        aside."""
        result: dict[str, Any] = {}
        for name in self.entries(kind):
            try:
                result[name] = self.load(kind, name, fits)
            except PluginError as e:
                disable_with_warning(str(e), e)
        return result

    def load_all(self, kind: str, fits: Fits = lambda thing: "") -> list[Any]:
        """The objects of :meth:`load_each`."""
        return [*self.load_each(kind, fits).values()]

    def owner(self, kind: str, name: str) -> Plugin:
        """The active plugin whose manifest has that entry, which must exist."""
        return self._owner(kind, name)[0]

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
        if name not in (known := self.entries(kind)):
            raise PluginError(
                f"no active plugin has {kind} entry {name!r}; known: "
                f"{', '.join(sorted({*own, *known})) or 'none'}. {self._inactive_note()}"
            )
        return self._owner(kind, name)[0].load(kind, name)

    def _owner(self, kind: str, name: str) -> tuple[Plugin, str]:
        """The plugin with that entry, and the import string."""
        entries = {n: getattr(m, kind) for n, m in self.ranked()}
        owner = next(n for n, entry in entries.items() if name in entry)
        return self.plugins[owner], entries[owner][name]

    def import_types(self) -> bool:
        """Import the modules that plugins name as registering types; False if that has been done.

        A module that does not import is left out with a warning (with ``DOVETAIL_STRICT=1``, an
        error).
        """
        thread = get_ident()
        if self._has_types or thread in self._importing:
            return False
        # Threads that come here at once all import (see ``base.once``).
        self._importing.add(thread)
        try:
            modules = [(n, m) for n, manifest in self.ranked() for m in manifest.types]
            done = [self._import_types(n, m) for n, m in modules]
            # Not done, where another import must end first: then the next value asks again.
            self._has_types = all(done)
        finally:
            self._importing.discard(thread)
        return True

    def _import_types(self, name: str, module: str) -> bool:
        if module in self._without_types:
            return True
        plugin = self.plugins[name]
        _, error = attempt(lambda: import_completely(module), plugin.whose, plugin.is_standard)
        if isinstance(error, Unfinished):
            return False
        if error is not None:
            text = (
                f"the types of {plugin.whose} ({module}) are set aside: {spell(error)}. Fix the "
                "module, or disable the plugin (DOVETAIL_DISABLE_PLUGINS)."
            )
            if self._without_types.setdefault(module, text) is text:
                try:
                    disable_with_warning(text, error)
                except BaseException:
                    del self._without_types[module]
                    raise
        return True

    def inactive_plugins(self) -> str:
        """The plugins that are not active, and the reasons; empty if all are active."""
        return "; ".join(f"{p.name} ({p.problem})" for p in self.plugins.values() if p.problem)

    def _inactive_note(self) -> str:
        inactive = self.inactive_plugins()
        return f"Set aside: {inactive}" if inactive else "Install the plugin that provides it."


def load_object(target: str) -> Any:
    """The object that an import string ``"module:attribute"`` (or ``"module"``) names."""
    module, _, attribute = target.partition(":")
    result: Any = import_part(module)
    for part in attribute.split(".") if attribute else ():
        result = getattr(result, part)
    return result
