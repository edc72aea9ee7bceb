"""Batching: what is sown has the mapped axis first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import algebra

from ..sow import sow_p


@batch_rules.register(sow_p)
def _sow_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], /, *, name: str
) -> tuple[Any, Any]:
    return sow_p.bind(algebra().move_axis(args[0], dims[0], 0), name=name), 0
