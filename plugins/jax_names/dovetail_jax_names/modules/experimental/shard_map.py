"""``jax.experimental.shard_map``: ``shard_map`` as it was spelt before."""

from __future__ import annotations

import warnings
from importlib import import_module
from typing import Any

from ...lookup import attributes as _attributes

_others, __dir__ = _attributes("jax.experimental.shard_map")


def __getattr__(name: str) -> Any:
    if name != "shard_map":
        return _others(name)
    text = "jax.experimental.shard_map.shard_map is deprecated. Use jax.shard_map."
    warnings.warn(text, DeprecationWarning, stacklevel=2)
    return import_module("dovetail.experimental.shard_map").shard_map
