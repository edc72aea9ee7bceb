"""Discovery of plugins: entry points give manifests; plugins that do not work are set aside.

``registry()`` has the plugins of this process.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from dovetail_base import entry_points
from dovetail_base.entry_points import Entry
from dovetail_base.environment import flag, listed, unknown_settings
from dovetail_base.errors import PluginError
from dovetail_base.once import Once
from dovetail_base.plugin_calls import (
    Unfinished,
    attempt,
    disable_with_warning,
    import_completely,
    spell,
)
from dovetail_base.source import KERNEL_PACKAGES

from .claims import KERNEL_CLAIMS, settle_claims
from .manifest import KERNEL_API, OLDEST_KERNEL_API, Manifest, checked
from .plugins import (
    KERNEL_TABLES as KERNEL_TABLES,
    Plugin as Plugin,
    Registry as Registry,
    load_object as load_object,
)

__all__ = (
    "KERNEL_TABLES",
    "Plugin",
    "Registry",
    "distribution_of",
    "load_object",
    "registry",
    "registry_of",
    "swap_registry",
    "when_swapped",
)
GROUP = "dovetail.plugins"


def discover() -> Registry:
    """Read every installed manifest. A plugin that does not work is set aside: see ``notices``.

    Raises:
        PluginError: the environment sets ``DOVETAIL_STRICT`` and a plugin does not work.
        ValueError: it sets it to a value that is no boolean.
    """
    flag("strict")
    result = Registry()
    for plugin, ep in sorted(_entries(result), key=lambda pair: pair[0].rank):
        other = result.plugins.get(plugin.name)
        if other is None:
            result.plugins[plugin.name] = plugin
            plugin.problem = blocked(plugin.name) or _load(plugin, ep)
        elif (other.distribution, other.target) != (plugin.distribution, plugin.target):
            # Else it is one distribution, seen twice on sys.path.
            result.plugins[f"{plugin.name} of {plugin.distribution}"] = plugin
            plugin.problem = (
                f"{other.distribution} {other.version} has a plugin of that name ({other.target}), "
                f"and this is another ({plugin.target})"
            )
    result.plugins = dict(sorted(result.plugins.items()))
    _require(result)
    settle_claims(result)
    result.notices[:0] = [*_problems(result)]
    result.notices += [(text, "") for text in _unknown_settings(result)]
    if result.notices and flag("strict"):
        raise PluginError(result.notices[0][0])
    return result


def _unknown_settings(result: Registry) -> Iterator[str]:
    manifests = [p.manifest for p in result.plugins.values()]
    theirs = [n for m in manifests if m for n in (*m.options, *m.variables)]
    names = [p.name for p in result.plugins.values()]
    options = [*KERNEL_CLAIMS["options"], *theirs]
    return unknown_settings(options, names, is_complete=None not in manifests)


def _entries(result: Registry) -> Iterator[tuple[Plugin, Entry]]:
    eps, problems = entry_points.installed(GROUP)
    result.notices += [(text, "") for text in problems]
    for ep in eps:
        yield Plugin(ep.name, ep.distribution, ep.version, ep.value), ep


def blocked(name: str) -> str:
    """The reason why the environment disables a plugin, or an empty string."""
    allowed = listed("plugins")
    if name in listed("disable_plugins"):
        return "disabled (DOVETAIL_DISABLE_PLUGINS)"
    if allowed and name not in allowed:
        return "disabled (not in DOVETAIL_PLUGINS)"
    return ""


def _load(plugin: Plugin, ep: Entry) -> str:
    start = time.perf_counter()

    def load() -> Any:
        import_completely(ep.module)
        given: Any = ep.load()
        return checked(given) if isinstance(given, Manifest) else given

    manifest, error = attempt(load, plugin.whose)
    if isinstance(error, Unfinished) and error.__cause__ is None:
        return (
            f"{ep.module} uses plugins while it is imported for its manifest: let it import "
            "dovetail_core only, and compute nothing"
        )
    if error is not None:
        return f"failed to import {ep.value}: {spell(error.__cause__ or error)}"
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


def _require(result: Registry) -> None:
    """Set aside plugins whose requirements are missing, repeatedly, until nothing changes."""
    changed = True
    while changed:
        changed = False
        for name, manifest in result.active.items():
            for needed in manifest.requires:
                if needed not in result.active and not result.plugins[name].problem:
                    other = result.plugins.get(needed)
                    why = f"which is {_state(other)}"
                    result.plugins[name].problem = f"needs plugin {needed!r}, {why}"
                    changed = True


def _state(plugin: Plugin | None) -> str:
    if plugin is None:
        return "not installed"
    return plugin.problem if plugin.problem.startswith("disabled") else "set aside itself"


def _problems(result: Registry) -> Iterator[tuple[str, str]]:
    # A plugin that fails comes before those that are set aside because they require it.
    for p in sorted(result.plugins.values(), key=lambda p: p.problem.endswith("set aside itself")):
        if p.problem and not p.problem.startswith("disabled"):
            yield (
                f"{p.whose} is set aside: {p.problem}",
                f". The rest works without it. Repair or uninstall {p.distribution}, or disable "
                "the plugin (DOVETAIL_DISABLE_PLUGINS).",
            )


def _announce(result: Registry) -> None:
    for text, more in result.notices:
        disable_with_warning(text, more=more)


registry: Once[Registry] = Once(discover, made=_announce)
"""The plugins of this process, ``registry()``; entry points are read at the first call."""


def registry_of(plugins: Mapping[str, Plugin]) -> Registry:
    """A registry of these plugins, by name, in which conflicts of names are settled."""
    result = Registry(plugins=dict(sorted(plugins.items())))
    settle_claims(result)
    return result


_when_swapped: list[Callable[[], object]] = []


def when_swapped(forget: Callable[[], object]) -> None:
    """Have ``forget`` called when there is another registry: it drops what is of the old one."""
    _when_swapped.append(forget)


def swap_registry(new: Registry | None) -> Registry | None:
    """Set the registry (None: read entry points again at the next use); returns the old one."""
    old = registry.swap(new)
    for forget in _when_swapped:
        forget()
    return old


def distribution_of(module: str) -> str:
    """The distribution and version that a module belongs to, for messages."""
    from importlib.metadata import packages_distributions, version

    top = module.partition(".")[0]
    for p in registry().plugins.values():
        if p.target.partition(":")[0].partition(".")[0] == top:
            return f"{p.distribution} {p.version} (plugin {p.name!r})"
    try:
        kernel = top in KERNEL_PACKAGES  # of the others all metadata is read, which takes long
        for name in ["dovetail-core"] if kernel else packages_distributions().get(top, []):
            return f"{name} {version(name)}"
    except Exception:  # some distribution, perhaps another one, is malformed
        pass
    return f"module {module}"
