"""Batching of reading bits as another type, which changes the last axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules

from ...primitives.conversion import bitcast_convert_type_p
from .kinds import first


@batch_rules.register(bitcast_convert_type_p)
def _bitcast(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, new_dtype: Any
) -> tuple[Any, int]:
    x = first(args[0], dims[0], axis.size)
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0
