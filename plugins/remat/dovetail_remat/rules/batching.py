"""The batching rule of ``place``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ..primitive import place_p


@batch_rules.register(place_p)
def _memory_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, *, src: str, dst: str
) -> tuple[Any, Any]:
    return place_p.bind(args[0], src=src, dst=dst), dims[0]
