"""Batching rules of reverse passes; that of the forward pass follows from its rule for lifting."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules, carrier_of
from dovetail_core import lift_call

from ..lifting import lifted_reverse
from ..primitives import reverse_p
from ..reverse import run_reverse
from ..second import operands_of, run_second, second_p


@batch_rules.register(reverse_p)
def _reverse_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
) -> tuple[list[Any], list[Any]]:
    """Batch all unknowns, and the known values that depend on batched ones.

    If the loop ran in a branch that only some elements took, its schedule is batched: then each
    element runs its own.
    """
    if params["cached"] and dims[0] is not None:
        carrier, values = carrier_of(axis), list(zip(args, dims))
        result = lift_call(carrier, lambda *xs: run_reverse(xs, params), values)
        return [x for x, _ in result], [d for _, d in result]
    result = lifted_reverse(carrier_of(axis), list(zip(args, dims)), params, lambda _: True)
    return [x for x, _ in result], [d for _, d in result]


@batch_rules.register(second_p)
def _second_batch(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], /, **params: Any
) -> tuple[list[Any], list[Any]]:
    """Batch the derivative alone, and not the reverse pass, if only tangents are batched."""
    *_, end = operands_of(params, args)
    outs: list[Any] = []
    if not params["rest"] and all(d is None for d in dims[:end]):
        own = {k: v for k, v in params.items() if k not in ("dotted", "rest")}
        outs = reverse_p.bind(*args[:end], **own)
        params = {**params, "rest": True}
    values = list(zip(args, dims))
    result = lift_call(carrier_of(axis), lambda *xs: run_second(xs, params), values)
    return [*outs, *(x for x, _ in result)], [*[None] * len(outs), *(d for _, d in result)]
