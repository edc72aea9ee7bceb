"""Windowed operations over a mapped axis: the window has size one there."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dovetail_batching import batch_rules, vmap
from dovetail_core import Primitive

from ...primitives import windows as w
from .axes import aligned_arrays, inserted

_PER_AXIS = (
    "window_dimensions", "window_strides", "base_dilation", "window_dilation",
)  # fmt: skip


def widened(params: dict[str, Any], dim: int) -> dict[str, Any]:
    """The parameters of windows with a mapped axis."""
    wide = {k: inserted(v, dim, 1) if k in _PER_AXIS else v for k, v in params.items()}
    wide["padding"] = inserted(params["padding"], dim, (0, 0))
    return wide


def _windows(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, int]:
        operands, dim = aligned_arrays(axis.size, args, dims)
        return primitive.bind(*operands, **widened(params, dim)), dim

    batch_rules.set(primitive, rule)


for _primitive in (
    w.reduce_window_sum_p, w.reduce_window_prod_p, w.reduce_window_max_p, w.reduce_window_min_p,
    w.select_and_gather_add_p, w.select_and_scatter_add_p,
):  # fmt: skip
    _windows(_primitive)


@batch_rules.register(w.reduce_window_p)
def _reduce_window(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, Any]:
    n = len(args) // 2
    if any(d is not None for d in dims[n:]):  # each element begins with a value of its own
        reduce_all = partial(w.reduce_window_p.decomposition, **params)  # type: ignore[arg-type]
        return vmap(reduce_all, in_axes=tuple(dims), axis_size=axis.size)(*args), [0] * n
    operands, dim = aligned_arrays(axis.size, args[:n], dims[:n])
    return w.reduce_window_p.bind(*operands, *args[n:], **widened(params, dim)), [dim] * n
