"""``jax._src.flatten_util``. blackjax: ``ravel_pytree``."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from ..absent_names import public
from ..names import home

ravel_pytree = import_module(home("jax.flatten_util")).ravel_pytree


def __getattr__(name: str) -> Any:
    return public("jax._src.flatten_util", name)
