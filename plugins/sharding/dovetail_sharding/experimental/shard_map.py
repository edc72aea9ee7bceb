"""``shard_map`` by its older name in ``experimental``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_sharding.manual import mapping

__all__ = ["shard_map"]


def shard_map(
    f: Callable[..., Any], mesh: Any, in_specs: Any, out_specs: Any, check_rep: bool = True
) -> Any:
    """``dovetail.shard_map`` with its options by position; ``check_rep`` is ``check_vma``."""
    return mapping.shard_map(
        f, mesh=mesh, in_specs=in_specs, out_specs=out_specs, check_vma=check_rep
    )
