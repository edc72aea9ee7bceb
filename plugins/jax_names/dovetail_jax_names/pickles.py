"""Pickles in the form that JAX reads, where the import hook answers for ``jax``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from dovetail_tree.util import registry as trees
from dovetail_xla.arrays import ArrayImpl

from .hook import is_installed


def reduced(x: Any) -> tuple[Any, ...] | None:
    """The result of ``__reduce__`` of an array or of keys; None for Dovetail's own form."""
    if not is_installed():
        return None
    if isinstance(x, ArrayImpl):
        return import_module("jax._src.array").reduced(x)
    return import_module("jax._src.random.prng").reduced(x)


def name_trees() -> None:
    """Let pickles of tree structures say where JAX has its registry."""
    trees.__module__ = "jax._src.tree_util"
    trees.__name__ = "default_registry"
