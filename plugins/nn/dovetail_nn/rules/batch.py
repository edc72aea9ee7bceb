"""The primitives of this plugin over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ..primitives import (
    log1mexp_p,
    log1mexp_slope_p,
    log_softmax_p,
    logsumexp_p,
    normal_cdf_p,
    relu6_p,
    relu_p,
    softmax_p,
    softplus_p,
)


def _elementwise(primitive: Primitive) -> None:
    def rule(axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
        return primitive.bind(args[0]), dims[0]

    batch_rules.set(primitive, rule)


def _past(dim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Axes of one element as axes of the batch."""
    return tuple([a + (a >= dim) for a in axes])


def _along(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
    ) -> tuple[Any, Any]:
        return primitive.bind(args[0], axes=_past(dims[0], axes)), dims[0]

    batch_rules.set(primitive, rule)


for _p in (relu_p, relu6_p, softplus_p, log1mexp_p, log1mexp_slope_p, normal_cdf_p):
    _elementwise(_p)
for _p in (softmax_p, log_softmax_p):
    _along(_p)


@batch_rules.register(logsumexp_p)
def _logsumexp(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, Any]:
    dim = dims[0]
    gone = sum(a < dim for a in _past(dim, axes))
    return logsumexp_p.bind(args[0], axes=_past(dim, axes)), dim - gone
