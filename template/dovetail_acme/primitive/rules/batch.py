"""Rules of ``batching.batch``: the axis to shift along moves where a mapped one is before it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import registry

from ..shift import shift_p


@registry().table("batching.batch").register(shift_p)
def _shift_batch(
    mapped: Any, args: Sequence[Any], dims: Sequence[Any], /, *, by: int, axis: int
) -> tuple[Any, int]:
    (x,), (dim,) = args, dims
    return shift_p.bind(x, by=by, axis=axis + (dim <= axis)), dim
