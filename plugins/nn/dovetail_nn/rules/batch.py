"""The primitives of this plugin over a mapped axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from .. import primitives as nn


def _elementwise(primitive: Primitive) -> None:
    def rule(axis: Any, args: Sequence[Any], dims: Sequence[Any]) -> tuple[Any, Any]:
        return primitive.bind(args[0]), dims[0]

    batch_rules.set(primitive, rule)


def _past(dim: int, axes: tuple[int, ...]) -> tuple[int, ...]:
    """Axes of one element as axes of the batched array."""
    return tuple([a + (a >= dim) for a in axes])


def _along(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
    ) -> tuple[Any, Any]:
        return primitive.bind(args[0], axes=_past(dims[0], axes)), dims[0]

    batch_rules.set(primitive, rule)


for _p in (
    nn.relu_p,
    nn.relu6_p,
    nn.softplus_p,
    nn.log1mexp_p,
    nn.log1mexp_slope_p,
    nn.normal_cdf_p,
):
    _elementwise(_p)
for _p in (nn.softmax_p, nn.log_softmax_p):
    _along(_p)


@batch_rules.register(nn.logsumexp_p)
def _logsumexp(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, axes: tuple[int, ...]
) -> tuple[Any, Any]:
    dim = dims[0]
    removed = sum(a < dim for a in _past(dim, axes))
    return nn.logsumexp_p.bind(args[0], axes=_past(dim, axes)), dim - removed
