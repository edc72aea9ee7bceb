"""The manifest: what a plugin adds, as names and import strings, before any of it is imported."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import import_module

KERNEL_API = 1
"""Version of the interface between kernel and plugins; a manifest names the range it works with."""
OLDEST_KERNEL_API = 1
"""The oldest version of the interface of which everything still works, if with warnings."""


def _no_names() -> dict[str, str]:
    return {}


def _no_modules() -> dict[str, tuple[str, ...]]:
    return {}


@dataclass(frozen=True)
class Manifest:
    """What one plugin adds, by import strings: ``"package.module"`` or ``"module:name"``.

    Attributes:
        name: the plugin's name, unique among installed plugins.
        api: lowest and highest kernel API version that it works with.
        requires: names of plugins that it needs.
        names: public names for the facade: ``{"grad": "dovetail_ad:grad"}``; a name that belongs
            to a surface of another plugin has that in front: ``{"lax.custom_root": ...}``.
        surfaces: public modules: ``{"numpy": "dovetail_numpy"}``. Where the facade has a module
            of that name, it has the names in the ``__all__`` of this one.
        primitives: modules that define primitives.
        tables: rule tables that it owns, by name: ``{"ad.jvp": "dovetail_ad.tables:jvp_rules"}``.
        contributes: modules that add rules, by table name.
        types: modules that register abstract values and Python value types when imported, which
            happens when a value of no known type is first met.
        providers: what the kernel asks plugins for, by role: ``algebra``, ``evaluator``,
            ``array_methods``, ``discharge``, ``backend_law``; at most one installed plugin provides
            each.
        backends: backends by platform name: ``{"cpu": "dovetail_backends.cpu:BACKEND"}``. Their
            ``problem()`` says why one cannot be used here, or ``""``.
        passes: IR passes by name.
        options: configuration options by name.
        commands: sub-commands of the command line ``dovetail`` by name.
        samples: modules with sample inputs of its primitives, for tests by the matrix.
        laws: laws of its tables, by table name: ``{"ad.jvp": "dovetail_ad.laws:jvp_law"}``.
        hooks: module with hook implementations, if any.
    """

    name: str
    api: tuple[int, int] = (1, KERNEL_API)
    requires: tuple[str, ...] = ()
    names: Mapping[str, str] = field(default_factory=_no_names)
    surfaces: Mapping[str, str] = field(default_factory=_no_names)
    primitives: tuple[str, ...] = ()
    tables: Mapping[str, str] = field(default_factory=_no_names)
    contributes: Mapping[str, tuple[str, ...]] = field(default_factory=_no_modules)
    types: tuple[str, ...] = ()
    providers: Mapping[str, str] = field(default_factory=_no_names)
    backends: Mapping[str, str] = field(default_factory=_no_names)
    passes: Mapping[str, str] = field(default_factory=_no_names)
    options: Mapping[str, str] = field(default_factory=_no_names)
    commands: Mapping[str, str] = field(default_factory=_no_names)
    samples: tuple[str, ...] = ()
    laws: Mapping[str, str] = field(default_factory=_no_names)
    hooks: str = ""


def names_of(module: str) -> dict[str, str]:
    """The public names of a module, its ``__all__``, as ``Manifest.names`` has them.

    The module is imported now: one that only lists names (:func:`dovetail_core.lazy_exports`).
    """
    return {name: f"{module}:{name}" for name in import_module(module).__all__}
