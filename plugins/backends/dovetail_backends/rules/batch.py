"""How placement is batched."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ..placement import device_put_p


@batch_rules.register(device_put_p)
def _device_put_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, Any]:
    return device_put_p.bind(*args, **params), dims[0]
