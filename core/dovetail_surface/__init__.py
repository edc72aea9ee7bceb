"""The modules of surfaces: names that manifests give them, loaded on first use."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any, cast

from dovetail_base.caches import cached
from dovetail_base.errors import PluginError, RegistryError
from dovetail_base.lazy import absent_name
from dovetail_base.plugin_calls import disable_with_warning
from dovetail_core import Manifest, discovery, registry

KERNEL = Manifest(
    "kernel",
    names={
        "check_tracer_leaks": "dovetail_base.options:check_tracer_leaks",
        "checking_leaks": "dovetail_base.options:checking_leaks",
        "config": "dovetail_surface.configuration:config",
        "enable_checks": "dovetail_base.options:enable_checks",
        "enable_x64": "dovetail_base.options:enable_x64",
        "float0": "dovetail_core.types.dtypes:float0",
        "make_user_context": "dovetail_base.options:make_user_context",
        "named_call": "dovetail_base.source:named_call",
        "named_scope": "dovetail_base.source:named_scope",
        "typeof": "dovetail_core.types.typeof:typeof",
    },
    surfaces={
        "errors": "dovetail_base.errors",
        "tree": "dovetail_tree",
        "tree_util": "dovetail_tree.util",
    },
)
"""The names that the kernel itself gives the facade."""


def surface(module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """``__getattr__`` and ``__dir__`` (PEP 562) of a module of the facade.

    It has the public names of the module that a manifest names for this surface, those that
    manifests add (``"lax.custom_root"``), and the surfaces within it. A name becomes the module's
    attribute when it is first used. Its ``__all__`` lists all of them. Functions that the surface's
    module lists in ``__programs__`` have the stages of compiled functions, such as ``lower``.

    Args:
        module: the module's name, ``"dovetail.numpy"``; without the first part, the surface's.

    Raises:
        AttributeError: there is no such name; names the plugin that has it if that is not active.
        RegistryError: two plugins have it.
    """
    path = module.partition(".")[2]
    own = sys._getframe(1).f_globals  # pyright: ignore[reportPrivateUsage]

    def get(name: str) -> Any:
        if name == "__all__":
            return public()
        if name.startswith("_") and not name.startswith("__array_"):  # those of the array API
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        result = {m.name: t for m in _manifests() if (t := _target(m, path, name))}
        if not result:
            asking = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
            raise absent_name(_absence(module, path, name), module, name, asking)
        owner, target = _owner(f"{module}.{name}", result)
        try:
            value = own[name] = _load(target, f"{module}.{name}")
            _give_stages(target, name, value)
        except Exception as e:
            e.add_note(f"{module}.{name} comes from plugin {owner!r}, which names it {target!r}.")
            raise
        return value

    def public() -> list[str]:
        return sorted({n for m in _manifests() for n in _names(m, path)})

    def listed() -> list[str]:
        return sorted({*(n for n in own if n.startswith("__")), *public()})

    return get, listed


def _give_stages(target: str, name: str, value: Any) -> None:
    """Give stages such as ``lower`` to a function that its surface's module lists as a program."""
    home = sys.modules.get(target.partition(":")[0])
    if home is not None and name in vars(home).get("__programs__", ()):
        add: Callable[[Any], Any] | None = registry().provider("stages", None)
        if add is not None:
            add(value)


def _manifests() -> Iterator[Manifest]:
    """The manifests, in the order of precedence for names that several claim."""
    yield KERNEL
    yield from (manifest for _, manifest in registry().ranked())


def _target(manifest: Manifest, path: str, name: str) -> str:
    """The import string of a surface's name, or an empty string."""
    full = f"{path}.{name}" if path else name
    added = manifest.names.get(full) or manifest.surfaces.get(full)
    if added:
        return added
    home = manifest.surfaces.get(path, "")
    return f"{home}:{name}" if home and name in _listed(manifest, home) else ""


def _names(manifest: Manifest, path: str) -> set[str]:
    """All names of a surface that come from one plugin."""
    start = f"{path}." if path else ""
    given = (*manifest.names, *manifest.surfaces)
    added = {n.removeprefix(start) for n in given if n.startswith(start)}
    home = manifest.surfaces.get(path)
    return {n for n in added if "." not in n} | set(_listed(manifest, home) if home else ())


def _listed(manifest: Manifest, home: str) -> frozenset[str]:
    """The public names of the module that a manifest names for a surface."""
    if manifest.name == KERNEL.name:
        return _listed_by_kernel(home)
    plugin = registry().plugins[manifest.name]
    known = plugin.public.get(home)
    if known is None:
        try:
            known = plugin.public[home] = _all_of(plugin, home)
        except PluginError as e:
            if plugin.is_standard:
                raise
            disable_with_warning(str(e), e)
            return frozenset()
    return known


@cached
def _listed_by_kernel(home: str) -> frozenset[str]:
    return frozenset(import_module(home).__all__)


def _all_of(plugin: discovery.Plugin, home: str) -> frozenset[str]:
    result: Any = plugin.load("surfaces", target=f"{home}:__all__")
    if not isinstance(result, (list, tuple)):
        problem = f"its __all__ is a {type(result).__name__}, not a list"
        raise plugin.unfit("surfaces", "", home, problem)
    return frozenset(x for x in cast("Sequence[Any]", result) if isinstance(x, str))


def _load(target: str, name: str) -> Any:
    """The object of an import string; for a surface the facade's module of that name, if any."""
    if ":" not in target:
        try:
            return import_module(name)
        except ModuleNotFoundError as e:
            if e.name != name:
                raise
    return discovery.load_object(target)


def _owner(name: str, result: Mapping[str, str]) -> tuple[str, str]:
    """The owner of a name, and its import string. Manifests do not list the names of surfaces, so
    that conflicts are found only here.

    Raises:
        RegistryError: several plugins claim it, and none of them comes with Dovetail.
    """
    first = next(iter(result.items()))
    if len(result) > 1:
        plugins = registry().plugins
        owners = ["the kernel" if n == KERNEL.name else plugins[n].whose for n in result]
        text = (
            f"{name} is claimed by {' and by '.join(owners)}. Disable one of the plugins "
            "(DOVETAIL_DISABLE_PLUGINS) or rename the entry."
        )
        if first[0] != KERNEL.name and not plugins[first[0]].is_standard:
            raise RegistryError(text)
        disable_with_warning(text, more=" The first of them has it.")
    return first


def _absence(module: str, path: str, name: str) -> str:
    """The message for a name that a module of the facade lacks: which plugin has it, if any."""
    for plugin in registry().plugins.values():
        manifest = _manifest_of_absent(plugin, module.partition(".")[0])
        if manifest and _target(manifest, path, name):
            state = "" if plugin.problem.startswith("disabled") else "set aside: "
            return (
                f"{module}.{name} comes from the plugin {plugin.name!r}, which is {state}"
                f"{plugin.problem}"
            )
    inactive = registry().inactive_plugins()
    note = f". Perhaps a plugin provides it that is not active: {inactive}" if inactive else ""
    explain: Callable[[str, str], str] | None = registry().provider("absence", None)
    more = explain(module, name) if explain is not None else ""
    return f"module {module!r} has no attribute {name!r}{note}{more and f'. {more}'}"


def _manifest_of_absent(plugin: discovery.Plugin, facade: str) -> Manifest | None:
    """The manifest of a plugin that is not active, if it is known.

    Nothing is imported of a disabled plugin, unless it came with the facade.
    """
    if plugin.problem.startswith("disabled") and plugin.distribution == facade:
        return discovery.load_object(plugin.target)
    return plugin.manifest if plugin.problem else None
