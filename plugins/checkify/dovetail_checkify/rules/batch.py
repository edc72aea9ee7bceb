"""The batching rule of ``check``, which keeps the failure of the first element."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import algebra

from ..primitive import check_p, first_failure


@batch_rules.register(check_p)
def _check_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], /, *, checks: Any, debug: bool
) -> tuple[Any, Any]:
    failed, code, *payload = [
        x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)
    ]
    mapped = [d is not None for d in dims]
    failed, code, payload, checks = first_failure(failed, code, payload, checks, mapped)
    return check_p.bind(failed, code, *payload, checks=checks, debug=debug), []
