"""Packages whose public names load on first use: importing a manifest imports nothing else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, where: Mapping[str, str]) -> Callable[[str], Any]:
    """A module ``__getattr__`` (PEP 562) for a package.

    Args:
        where: the sub-module that defines each public name; ``""`` where the name is one itself.
    """

    def get(name: str) -> Any:
        if name not in where:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(f"{package}.{where[name] or name}")
        value = getattr(module, name) if where[name] else module
        vars(import_module(package))[name] = value
        return value

    return get
