"""Problems of manifests: entries that name no object, and unknown tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dovetail_base.errors import PluginError
from dovetail_core import Manifest, discovery, registry

_MAPPINGS = (
    "names", "surfaces", "tables", "providers", "backends", "passes", "options", "commands", "laws",
    "members",
)  # fmt: skip
_MODULES = ("primitives", "types", "samples")


def manifest_problems(plugin: discovery.Plugin, manifest: Manifest) -> Iterator[str]:
    """The problems of a manifest; each names the plugin and the field.

    All that the manifest names is loaded, but for rules, whose problems their tables report.
    """
    whose = f"of plugin {plugin.name!r} of {plugin.distribution} {plugin.version}"
    for field, target in _targets(manifest):
        try:
            plugin.load(field, target=target)
        except PluginError as e:
            yield str(e)
    plugins = registry().plugins.values()
    prefixes = {p.name for p in plugins if p.distribution == plugin.distribution}
    for name in manifest.tables:
        if name.partition(".")[0] not in prefixes or "." not in name:
            yield (
                f"tables entry {name!r} {whose} has no prefix: call it {plugin.name}.{name}, so "
                "that no other plugin has a table of that name."
            )
    known = {*discovery.KERNEL_TABLES, *_all_tables()}
    for name in manifest.contributes:
        if name not in known:
            yield (
                f"contributes entry {name!r} {whose}: no installed plugin has such a table. "
                f"Correct the name, or install the plugin {name.partition('.')[0]!r}."
            )


def _targets(manifest: Manifest) -> Iterator[tuple[str, str]]:
    """The fields of a manifest, with the names of entries, and import strings."""
    for field in _MAPPINGS:
        entries: Mapping[str, str] = getattr(manifest, field)
        for name, target in entries.items():
            yield f"{field} entry {name!r}", target
    for field in _MODULES:
        for module in getattr(manifest, field):
            yield field, module
    if manifest.hooks:
        yield "hooks", manifest.hooks


def _all_tables() -> Iterator[str]:
    """The tables of all plugins that were found, active or not."""
    for plugin in registry().plugins.values():
        if plugin.manifest is not None:
            yield from plugin.manifest.tables
        elif plugin.problem:  # nothing is known of its tables but their prefix
            yield from (
                name
                for other in registry().active.values()
                for name in other.contributes
                if name.startswith(f"{plugin.name}.")
            )
