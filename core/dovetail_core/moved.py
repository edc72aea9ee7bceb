"""Old names of modules that have moved to packages of their own; each gives the new module."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import CodeType, ModuleType
from typing import Any, cast

MOVED = {
    "dovetail_core.base": "dovetail_base",
    "dovetail_core.cli": "dovetail_cli",
    "dovetail_core.dispatch.axes": "dovetail_core.dispatch.axis_names",
    "dovetail_core.dispatch.forms": "dovetail_surface.parameters",
    "dovetail_core.dispatch.operators": "dovetail_core.dispatch.value_methods",
    "dovetail_core.interpret.lending": "dovetail_mutable.mutable_values",
    "dovetail_core.interpret.lowering": "dovetail_high.lowering",
    "dovetail_core.interpret.mutable": "dovetail_mutable.mutable_values",
    "dovetail_core.interpret.mutable_values": "dovetail_mutable.mutable_values",
    "dovetail_core.interpret.partly": "dovetail_high.partial",
    "dovetail_core.registry.configuration": "dovetail_surface.configuration",
    "dovetail_core.registry.entries": "dovetail_base.entry_points",
    "dovetail_core.registry.facade_names": "dovetail_surface",
    "dovetail_core.registry.foreign": "dovetail_base.plugin_calls",
    "dovetail_core.registry.hooks": "dovetail_hooks",
    "dovetail_core.registry.listening": "dovetail_hooks.options",
    "dovetail_core.rules.checks": "dovetail_core.rules.rule_checks",
    "dovetail_core.rules.dce": "dovetail_core.rules.dead_code",
    "dovetail_core.testing": "dovetail_testing",
    "dovetail_core.text": "dovetail_text",
    "dovetail_core.tree": "dovetail_tree",
    "dovetail_core.types.dividing": "dovetail_core.types.type_shardings",
    "dovetail_core.types.high": "dovetail_high.types",
    "dovetail_core.types.manual_axis_types": "dovetail_mesh.manual_axis_types",
    "dovetail_core.types.roles": "dovetail_mesh.manual_axis_types",
    "dovetail_core.xla": "dovetail_xla",
}
"""The new names of modules, by their old ones; those of a package keep their names within it."""


def new_name(module: str) -> str | None:
    """The present name of a module that has moved; None for other modules."""
    old = module
    while old.startswith("dovetail_core."):
        if old in MOVED:
            return MOVED[old] + module.removeprefix(old)
        old = old.rpartition(".")[0]
    return None


def is_moved(name: str) -> bool:
    """Return whether ``dovetail_core.<name>`` is the old name of a module."""
    return f"dovetail_core.{name}" in MOVED


class _MovedFinder:
    """A finder of modules by their old names. It comes first, since a folder that an older version
    has left would be found as a package without modules."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: object = None
    ) -> ModuleSpec | None:
        new = new_name(name)
        result = find_spec(new) if new is not None else None
        if result is None:
            return None
        is_package = result.submodule_search_locations is not None
        return ModuleSpec(
            name, cast("Any", _MovedLoader(result)), origin=result.origin, is_package=is_package
        )


class _MovedLoader:
    # Not of importlib.abc, which imports a quarter of the standard library.

    def __init__(self, spec: ModuleSpec) -> None:
        self._spec = spec

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return import_module(self._spec.name)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import has put that of the old name there

    def get_code(self, name: str) -> CodeType | None:
        """The code of the module, for ``python -m``."""
        return cast("Any", self._spec.loader).get_code(self._spec.name)


def find_moved_modules() -> None:
    """Install the finder, so that old names can be imported."""
    if not any(isinstance(finder, _MovedFinder) for finder in sys.meta_path):
        sys.meta_path.insert(0, cast("Any", _MovedFinder()))
