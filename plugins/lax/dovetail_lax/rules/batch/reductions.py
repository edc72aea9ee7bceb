"""Batching of reductions, also cumulative ones."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from dovetail_batching import batch_rules, vmap
from dovetail_core import Primitive

from ...primitives import reductions as r
from .axes import aligned_arrays, shifted


def _reduction(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...], **params: Any
    ) -> tuple[Any, int]:
        dim: int = dims[0]
        axes = shifted(axes, dim)
        out_dim = dim - sum([a < dim for a in axes])
        return primitive.bind(args[0], axes=axes, **params), out_dim

    batch_rules.set(primitive, rule)


for _primitive in (
    r.reduce_sum_p, r.reduce_prod_p, r.reduce_max_p, r.reduce_min_p, r.reduce_and_p, r.reduce_or_p,
    r.reduce_xor_p, r.argmax_p, r.argmin_p,
):  # fmt: skip
    _reduction(_primitive)


@batch_rules.register(r.reduce_p)
def _reduce(
    axis: Any,
    args: Sequence[Any],
    dims: Sequence[int | None],
    *,
    jaxpr: Any,
    dimensions: tuple[int, ...],
) -> tuple[Any, Any]:
    n = len(args) // 2
    if any(d is not None for d in dims[n:]):  # each element begins with a value of its own
        reduce_all = partial(r.reduce_p.decomposition, jaxpr=jaxpr, dimensions=dimensions)  # type: ignore[arg-type]
        return vmap(reduce_all, in_axes=tuple(dims), axis_size=axis.size)(*args), [0] * n
    operands, dim = aligned_arrays(axis.size, args[:n], dims[:n])
    axes = shifted(dimensions, dim)
    out = r.reduce_p.bind(*operands, *args[n:], jaxpr=jaxpr, dimensions=axes)
    return out, [dim - sum([a < dim for a in axes])] * n


def _cumulative(primitive: Primitive) -> None:
    def rule(
        mapped: Any, args: Sequence[Any], dims: Sequence[Any], *, axis: int, reverse: bool
    ) -> tuple[Any, int]:
        dim: int = dims[0]
        return primitive.bind(args[0], axis=axis + (axis >= dim), reverse=reverse), dim

    batch_rules.set(primitive, rule)


for _primitive in (r.cumsum_p, r.cumprod_p, r.cummax_p, r.cummin_p, r.cumlogsumexp_p):
    _cumulative(_primitive)
