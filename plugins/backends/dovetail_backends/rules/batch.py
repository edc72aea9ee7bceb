"""Batching of placement and of constraints on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_xla.shardings import GSPMDSharding

from ..placement import device_put_p, sharding_constraint_p


@batch_rules.register(device_put_p)
def _device_put_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, Any]:
    return device_put_p.bind(*args, **params), dims[0]


@batch_rules.register(sharding_constraint_p)
def _sharding_constraint_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, sharding: Any
) -> tuple[Any, Any]:
    (x,), (d,) = args, dims
    assert d is not None
    if isinstance(sharding, GSPMDSharding):  # of this number of dimensions; a name for none
        return x, d
    insert = getattr(sharding, "_with_dimension", None)
    wider = sharding if insert is None else insert(d, axis.spmd_name)
    return sharding_constraint_p.bind(x, sharding=wider), d
