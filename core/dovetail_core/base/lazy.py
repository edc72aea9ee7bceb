"""Packages whose public names load on first use: importing a manifest imports nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """A module ``__getattr__`` (PEP 562) for a package.

    Args:
        where: the sub-module that defines each public name, with ``:attribute`` where it has
            another name there; ``""`` where the name is a sub-module itself, ``":module"`` where
            it is one of another name; ``"=module:attribute"`` where it comes from another package.
    """

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        target, _, attribute = where[name].partition(":")
        absolute = target.startswith("=")
        here = f"{package}.{target or attribute or name}"
        module = import_module(target[1:] if absolute else here)
        value = getattr(module, attribute or name) if target else module
        vars(import_module(package))[name] = value
        return value

    return get
