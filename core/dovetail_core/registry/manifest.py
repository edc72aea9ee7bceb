"""The manifest: a plugin's contributions as names and import strings, before any is imported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from importlib import import_module
from typing import Any, cast

KERNEL_API: int = 2
"""Version of the interface between kernel and plugins; a manifest names the range it works with."""
OLDEST_KERNEL_API: int = 1
"""The oldest version of the interface of which everything still works, if with warnings."""


def _no_names() -> dict[str, str]:
    return {}


def _no_modules() -> dict[str, tuple[str, ...]]:
    return {}


@dataclass(frozen=True)
class Manifest:
    """A plugin's contributions, by import strings: ``"package.module"`` or ``"module:name"``.

    Attributes:
        name: the plugin's name, unique among installed plugins.
        api: lowest and highest kernel API version that it works with.
        requires: names of plugins that it needs.
        names: public names for the facade: ``{"grad": "dovetail_ad:grad"}``; a name in a surface of
            another plugin has that as a prefix: ``{"lax.custom_root": ...}``.
        surfaces: public modules: ``{"numpy": "dovetail_numpy"}``. Where the facade has a module of
            that name, it has the names in the ``__all__`` of this one.
        primitives: modules that define primitives.
        tables: rule tables that it owns, by name: ``{"ad.jvp": "dovetail_ad.tables:jvp_rules"}``.
        contributes: modules that add rules, by table name.
        types: modules that register abstract values and Python value types when imported, which
            happens when a value of no known type is first met.
        providers: functions and objects for roles that the kernel names: ``algebra``,
            ``evaluator``, ``array_methods``, ``discharge``, ``backend_law``, ``absence`` (the
            reason why a public name is missing), ``stages`` (gives ``lower`` and the like to
            functions that a surface lists in ``__programs__``); at most one plugin provides each.
        backends: backends by platform name: ``{"cpu": "dovetail_backends.cpu:BACKEND"}``. Their
            ``problem()`` returns why one cannot be used, or ``""``.
        passes: IR passes by name.
        options: configuration options by name.
        commands: sub-commands of the command line ``dovetail`` by name.
        samples: modules with sample inputs of its primitives, for tests by the matrix.
        laws: laws of its tables, by table name: ``{"ad.jvp": "dovetail_ad.laws:jvp_law"}``.
        hooks: module with hook implementations, if any.
        members: its members of collections of other plugins, by the collection and a name in it:
            ``{"random.generators.philox": "acme_philox:PHILOX"}``.
        own_rules: modules of ``contributes`` that have rules of primitives of their own package
            alone: they are imported once there is such a primitive.
        variables: environment variables that it reads besides those of its options, named as
            options are: ``("process_id",)`` for ``DOVETAIL_PROCESS_ID``.
        families: modules of ``contributes`` that have rules of the primitives of a few modules
            alone, and these modules: ``{"acme.rules.jvp.sums": ("acme.sums",)}``. They are imported
            when a rule of such a primitive is first needed.
        hooks_of_options: names of options; if the environment sets none of them, the module
            ``hooks`` would have no hooks, and is not imported.
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
    members: Mapping[str, str] = field(default_factory=_no_names)
    own_rules: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    families: Mapping[str, tuple[str, ...]] = field(default_factory=_no_modules)
    hooks_of_options: tuple[str, ...] = ()


def names_of(module: str) -> dict[str, str]:
    """The public names of a module, its ``__all__``, in the form of ``Manifest.names``.

    The module is imported, so it must only list names (:func:`dovetail_core.lazy_exports`).
    """
    return {name: f"{module}:{name}" for name in import_module(module).__all__}


def checked(manifest: Manifest) -> Manifest:
    """A copy whose fields have their declared types, unaffected by changes of the given objects.

    Raises:
        TypeError: a field is of another type; names the field, its value and the type.
    """
    made: dict[str, Any] = {}
    for f in fields(Manifest):
        value: Any = getattr(manifest, f.name)
        made[f.name] = _CHECKS[f.type](f"field {f.name!r}", value)
    return Manifest(**made)


def _string(where: str, value: Any) -> str:
    if not isinstance(value, str):
        raise _unfit(where, value, "a string")
    return str(value)


def _strings(where: str, value: Any) -> tuple[str, ...]:
    if isinstance(value, str) or not isinstance(value, Sequence):
        more = f": ({value!r},)" if isinstance(value, str) else ""
        raise _unfit(where, value, f"a tuple of strings{more}")
    items = cast("Sequence[Any]", value)
    return tuple([_target(f"{where}, item {i},", x) for i, x in enumerate(items)])


def _target(where: str, value: Any) -> str:
    result = _string(where, value)
    if (
        not result
        or result != "".join(result.split())
        or result.count(":") > 1
        or result[0] in ":."
    ):
        raise _unfit(where, value, "a name, or an import string such as 'package.module:name'")
    return result


def _mapping(where: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise _unfit(where, value, "a dictionary")
    items = cast("Mapping[Any, Any]", value).items()
    return {_string(f"{where}, key {k!r},", k): v for k, v in items}


def _targets(where: str, value: Any) -> dict[str, str]:
    return {k: _target(f"{where}, entry {k!r},", v) for k, v in _mapping(where, value).items()}


def _modules(where: str, value: Any) -> dict[str, tuple[str, ...]]:
    return {k: _strings(f"{where}, entry {k!r},", v) for k, v in _mapping(where, value).items()}


def _versions(where: str, value: Any) -> tuple[int, int]:
    pair: Any = tuple(cast("Sequence[Any]", value)) if isinstance(value, Sequence) else ()
    if len(pair) != 2 or not all(type(v) is int for v in pair):
        raise _unfit(where, value, "the lowest and the highest version: (1, 1)")
    return pair


def _unfit(where: str, value: Any, wanted: str) -> TypeError:
    return TypeError(f"{where} is {value!r:.80}, of type {type(value).__name__}; wanted: {wanted}")


_CHECKS: dict[Any, Any] = {
    "str": _string,
    "tuple[int, int]": _versions,
    "tuple[str, ...]": _strings,
    "Mapping[str, str]": _targets,
    "Mapping[str, tuple[str, ...]]": _modules,
}
