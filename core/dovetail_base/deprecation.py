"""Deprecation warnings: what is removed, in which version, and what to use instead."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Mapping
from typing import Any


def deprecated(what: str, instead: str, goes: str, stacklevel: int = 2) -> None:
    """Warn that ``what`` will be removed, for at least one version before it is.

    Args:
        what: its public name: ``"dovetail_acme.cost"``, ``"jit(f, device=...)"``.
        instead: what to write in its place.
        goes: the version in which it is removed: ``"dovetail-acme 2.0"``.
        stacklevel: whose line the warning names; 2 is the caller of the function that calls this.
    """
    text = f"{what} is deprecated and goes in {goes}. Use {instead} instead."
    warnings.warn(text, DeprecationWarning, stacklevel=stacklevel + 1)


def deprecated_in_jax(
    what: str, instead: str, stacklevel: int = 2, category: type[Warning] = DeprecationWarning
) -> None:
    """Warn, in programs that import ``jax``, of names that JAX has deprecated and Dovetail keeps.

    Args:
        what, instead, stacklevel: as for :func:`deprecated`.
        category: the class of JAX's warning.
    """
    if "jax" in sys.modules:  # the import hook's: the package itself is refused
        text = f"{what} is deprecated in JAX. Use {instead} instead."
        warnings.warn(text, category, stacklevel=stacklevel + 1)


def renamed(
    module: str, names: Mapping[str, tuple[str, str]], get: Callable[[str], Any]
) -> Callable[[str], Any]:
    """A module's ``__getattr__`` that resolves old names, with a deprecation warning.

    Args:
        names: from old names to the new one and the version in which the old one is removed.
        get: the module's ``__getattr__`` for all other names.
    """

    def get_renamed(name: str) -> Any:
        if name not in names:
            return get(name)
        new, goes = names[name]
        deprecated(f"{module}.{name}", f"{module}.{new}", goes)
        return getattr(sys.modules[module], new)

    return get_renamed
