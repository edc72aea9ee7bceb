"""The modules that answer for JAX's modules, and the names that JAX has."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from types import ModuleType
from typing import Any

from dovetail_core import cached, registry

from .usage import usage

FACADE = "dovetail"
COLLECTION = "jax.modules"
"""Modules that answer for JAX's where the facade has none, as members of manifests: by path without
``jax``; a package answers with its modules for those below it."""


def home(name: str) -> str:
    """The module that answers for JAX's module ``name``; an empty string if none does.

    It is the name of a module, or of an attribute of one (``"package.answers:export"``): one that a
    plugin names for it, or else the facade's, which is the same object then.
    """
    above, _, last = name.rpartition(".")
    path = name.partition(".")[2]
    if given := _given(path):
        if path.partition(".")[0] == "_src":
            usage.private(name)
        return given
    own = f"{FACADE}.{path}"
    return own if knows(above, last) and _exists(own) else ""


def _given(path: str) -> str:
    """The module that a plugin names for a path, or that is in the package of one above."""
    members = registry().members(COLLECTION)
    start, below = path, ""
    while start:
        if start in members:
            result = members[start] + below
            return result if not below or _exists(result) else ""
        start, _, last = start.rpartition(".")
        below = f".{last}{below}"
    return ""


def load(name: str) -> ModuleType:
    """The module that answers, by the name that ``home`` gives."""
    return load_object(name) if ":" in name else import_module(name)


def load_object(name: str) -> Any:
    """The object of a name such as ``"dovetail_jit:jit_p"``."""
    module, _, attribute = name.partition(":")
    return getattr(import_module(module), attribute)


def _exists(name: str) -> bool:
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # nor is there the package, or it is a module
        return False


@cached(permanent="the file is part of the distribution")
def known() -> dict[str, frozenset[str]]:
    """JAX's public names, by module (``names.txt``)."""
    return _read("names.txt")


@cached(permanent="the file is part of the distribution")
def undocumented() -> dict[str, frozenset[str]]:
    """The names of modules that JAX's documentation does not list (``undocumented.txt``)."""
    return _read("undocumented.txt")


def _read(name: str) -> dict[str, frozenset[str]]:
    text = files("dovetail_jax_names").joinpath(name).read_text("utf-8")
    lines = (line.partition(":") for line in text.splitlines() if not line.startswith("#"))
    return {module: frozenset(names.split()) for module, _, names in lines}


def names_of(module: str) -> frozenset[str]:
    """The names that JAX's module has."""
    return known().get(module) or undocumented().get(module, frozenset())


@cached(permanent="the file is part of the distribution")
def _modules() -> frozenset[str]:
    parts = [m.split(".") for m in (*known(), *undocumented())]
    return frozenset(".".join(p[:i]) for p in parts for i in range(1, len(p) + 1))


def knows(module: str, name: str) -> bool:
    """True if JAX has a public name, or module."""
    return name in names_of(module) or f"{module}.{name}" in _modules()


def is_module(name: str) -> bool:
    """True if JAX has a public module."""
    return name in _modules()
