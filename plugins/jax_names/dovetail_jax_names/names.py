"""Which module answers for which of JAX's, and the names that JAX has."""

from __future__ import annotations

import sys
from functools import cache
from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType

from dovetail_core import registry

from .asked import asked

FACADE = "dovetail"
COLLECTION = "jax.modules"
"""Modules that answer for JAX's where the facade has none, as members of manifests: by path without
``jax``; a package answers with its modules for those below it."""


def module(name: str) -> ModuleType | None:
    """The module that answers for JAX's module ``name``, or None.

    It is one that a plugin names for it, or else the facade's, which is the same object then.
    """
    if name == "jax":
        return _import("dovetail_jax_names.root")
    path = name.partition(".")[2]
    given = _given(path)
    if given is not None:
        if path.partition(".")[0] == "_src":
            asked.private(name)
        return given
    above, _, last = name.rpartition(".")
    return _import(f"{FACADE}.{path}") if knows(above, last) else None


def _given(path: str) -> ModuleType | None:
    """The module that a plugin names for a path, or that is in the package of one above."""
    members = registry().members(COLLECTION)
    home, below = path, ""
    while home:
        if home in members:
            return _import(members[home] + below)
        home, _, last = home.rpartition(".")
        below = f".{last}{below}"
    return None


def _import(name: str) -> ModuleType | None:
    """A module, if there is one; what fails inside of it passes."""
    parent = name.rpartition(".")[0]
    if parent and (above := _import(parent)) is not None and not hasattr(above, "__path__"):
        return None
    if (parent and parent not in sys.modules) or find_spec(name) is None:
        return None
    import_module(name)
    return sys.modules[name]


@cache
def known() -> dict[str, frozenset[str]]:
    """JAX's public names, by module (``names.txt``)."""
    text = files("dovetail_jax_names").joinpath("names.txt").read_text("utf-8")
    lines = (line.split(": ", 1) for line in text.splitlines() if not line.startswith("#"))
    return {module: frozenset(names.split()) for module, names in lines}


@cache
def _modules() -> frozenset[str]:
    parts = [m.split(".") for m in known()]
    return frozenset(".".join(p[:i]) for p in parts for i in range(1, len(p) + 1))


def knows(module: str, name: str) -> bool:
    """Whether JAX has a public name, or module."""
    return name in known().get(module, ()) or f"{module}.{name}" in _modules()
