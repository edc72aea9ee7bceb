"""Arrays of several processes with another sharding: the provider ``resharder``."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .api import jit


def resharded(x: Any, sharding: Any) -> Any:
    """``x`` by another sharding on the same devices; all processes must ask for it."""
    return _mover(sharding)(x)


@lru_cache(256)
def _mover(sharding: Any) -> Any:
    def reshard(x: Any) -> Any:
        return x

    return jit(reshard, out_shardings=sharding)
