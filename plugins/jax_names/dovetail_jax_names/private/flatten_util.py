"""``jax._src.flatten_util``. blackjax: ``ravel_pytree``."""

from __future__ import annotations

from typing import Any

from dovetail_numpy.flatten_util import ravel_pytree as ravel_pytree

from .absent import absent


def __getattr__(name: str) -> Any:
    raise absent("jax._src.flatten_util", name)
