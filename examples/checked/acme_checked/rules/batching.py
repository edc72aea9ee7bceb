"""Batching: all elements are checked together; values have the mapped axis first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import algebra

from ..check import check_p


@batch_rules.register(check_p)
def _check_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], /, **params: Any
) -> tuple[Any, Any]:
    moved = [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    return check_p.bind(*moved, **params), []
