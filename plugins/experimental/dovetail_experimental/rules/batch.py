"""Mapped values with metadata, and with a layout."""

from __future__ import annotations

from typing import Any

from dovetail_batching import batch_rules

from ..primitives import layout_constraint_p, xla_metadata_value_p


@batch_rules.register(xla_metadata_value_p)
def _value_batch(axis_size: int, args: Any, dims: Any, **params: Any) -> Any:
    return xla_metadata_value_p.bind(*args, **params), dims[0]


@batch_rules.register(layout_constraint_p)
def _layout_batch(axis_size: int, args: Any, dims: Any, *, major_to_minor: Any) -> Any:
    """The mapped axis is the slowest."""
    (x,), (dim,) = args, dims
    order = (dim, *[k + (k >= dim) for k in major_to_minor])
    return layout_constraint_p.bind(x, major_to_minor=order), dim
