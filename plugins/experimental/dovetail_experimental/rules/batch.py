"""Mapped values with metadata."""

from __future__ import annotations

from typing import Any

from dovetail_batching import batch_rules

from ..primitives import xla_metadata_value_p


@batch_rules.register(xla_metadata_value_p)
def _value_batch(axis_size: int, args: Any, dims: Any, **params: Any) -> Any:
    return xla_metadata_value_p.bind(*args, **params), dims[0]
