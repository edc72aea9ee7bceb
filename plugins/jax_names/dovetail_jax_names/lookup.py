"""Attributes of modules that answer for JAX's: sub-modules, old names, and what is not there."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from importlib import import_module
from types import ModuleType
from typing import Any

from dovetail_base.lazy import absent_name, contents

from . import names
from .absence import reason
from .absent_names import public
from .classes import named
from .names import load_object

Lookup = tuple[Callable[[str], Any], Callable[[], list[str]]]


def attributes(
    module: str,
    old: Mapping[str, str | tuple[str, str]] | None = None,
    removed: Mapping[str, str] | None = None,
    facade: str = "",
) -> Lookup:
    """``__getattr__`` and ``__dir__`` of the module that answers for JAX's ``module``.

    Args:
        old: names that warn, with where each one is now: ``"jax.extend.core.Primitive"``; or with
            that and what to use instead, where it is something else.
        gone: names that JAX had and has not, with what to use instead.
        facade: the module of the facade that has the other names.
    """
    own = sys._getframe(1).f_globals  # pyright: ignore[reportPrivateUsage]
    return _lookup(module, own, {}, old or {}, removed or {}, facade)


def module_of(
    module: str,
    doc: str,
    names: Mapping[str, str] | None = None,
    old: Mapping[str, str | tuple[str, str]] | None = None,
    facade: str = "",
    package: bool = False,
) -> ModuleType:
    """A module that answers for JAX's ``module`` and has no code of its own.

    Args:
        names: its names, with where each is imported from on first use: ``"dovetail_jit:jit_p"``.
        old, facade: as of ``attributes``.
        package: has modules below it.
    """
    result = ModuleType(module, doc)
    own = contents(result)
    if package:
        own["__path__"] = []
    lookup = _lookup(module, own, names or {}, old or {}, {}, facade)
    own["__getattr__"], own["__dir__"] = lookup
    return result


def private_module(module: str, doc: str, names: Mapping[str, str]) -> ModuleType:
    """A module that answers for a private one of JAX: some names, with where each is imported from
    on first use, and the public names of which JAX's module is the home."""
    result = ModuleType(module, doc)
    own = contents(result)

    def get(name: str) -> Any:
        if name not in names:
            return public(module, name)
        value = own[name] = load_object(names[name])
        return value

    own["__getattr__"] = get
    return result


def _lookup(
    module: str,
    own: dict[str, Any],
    imported: Mapping[str, str],
    old: Mapping[str, str | tuple[str, str]],
    removed: Mapping[str, str],
    facade: str,
) -> Lookup:
    def get(name: str) -> Any:
        if name == "__all__":
            return [n for n in listed() if not n.startswith("_")]
        if name in imported:
            value = own[name] = load_object(imported[name])
            return value
        if name.startswith("__"):
            raise AttributeError(name)
        if names.home(f"{module}.{name}"):
            return import_module(f"{module}.{name}")
        if name in of_facade():
            value = own[name] = named(module, name, getattr(import_module(facade), name))
            return value
        if name in old:
            return _old(module, name, old[name])
        why = f"use {removed[name]}" if name in removed else reason(module, name)
        text = f"module {module!r} has no attribute {name!r}. {why}"
        raise absent_name(text, module, name, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]

    def of_facade() -> list[str]:
        return import_module(facade).__all__ if facade else []

    def listed() -> list[str]:
        known = {*own, *imported, *of_facade()}
        inner = (n for n in names.names_of(module) if n in known or _is_module(module, n))
        return sorted({n for n in own if n.startswith("__")} | set(inner))

    return get, listed


def _is_module(module: str, name: str) -> bool:
    return bool(names.home(f"{module}.{name}"))


def _old(module: str, name: str, new: str | tuple[str, str]) -> Any:
    where, use = new if isinstance(new, tuple) else (new, new)
    warnings.warn(f"{module}.{name} is deprecated. Use {use}.", DeprecationWarning, stacklevel=3)
    home, _, last = where.rpartition(".")
    return getattr(import_module(home), last)
