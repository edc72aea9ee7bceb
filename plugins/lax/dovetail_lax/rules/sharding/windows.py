"""Windows that slide over arrays."""

from __future__ import annotations

from typing import Any

from dovetail_sharding.types import Application, Parts, infer_rules, same, undivided_along

from ...primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)

for _p in (
    reduce_window_sum_p, reduce_window_max_p, reduce_window_min_p, reduce_window_prod_p,
):  # fmt: skip
    infer_rules.set(_p, same)


@infer_rules.register(reduce_window_p)
def _reduce_window(app: Application, /, **params: Any) -> list[Parts]:
    return [app.parts(0)] * len(app.outs)


def _selecting(app: Application, /, *, window_dimensions: tuple[int, ...], **params: Any) -> Parts:
    """XLA's partitioner is wrong about windows that lie in two parts."""
    windows = [d for d, n in enumerate(window_dimensions) if n > 1]
    for i in (0, 1):
        undivided_along(app, windows, i)
    both = zip(app.parts(0), app.parts(1))
    return tuple([app.merged(f"dimension {d}", pair) for d, pair in enumerate(both)])


infer_rules.set(select_and_scatter_add_p, _selecting)
infer_rules.set(select_and_gather_add_p, _selecting)
