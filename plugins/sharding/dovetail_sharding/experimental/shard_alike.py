"""Values that are divided alike, by JAX's names."""

from __future__ import annotations

from ..constraints import shard_alike as shard_alike

__all__ = ["shard_alike"]
