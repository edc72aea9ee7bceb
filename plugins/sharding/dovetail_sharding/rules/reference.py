"""``shard_map`` with NumPy: a thread for each device."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import (
    evaluate,
    gathered_values,
    position_along,
    reference_rules,
    run_on_devices,
)
from dovetail_core import ClosedJaxpr

from ..constraints import shard_alike_p
from ..manual.primitives import (
    counts,
    from_parts_p,
    one_of_parts_p,
    shard_map_p,
    stacked_over,
    to_parts_p,
)
from ..specs import PartitionSpec, axes_of

Array = np.ndarray[Any, Any]


@reference_rules.register(shard_map_p)
def _shard_map(*operands: Array, jaxpr: ClosedJaxpr, mesh: Any, manual_axes: Any) -> list[Array]:
    sizes = {a: mesh.shape[a] for a in manual_axes}
    stacks = [stacked_over(a, manual_axes) for a in jaxpr.in_avals]

    def one() -> tuple[list[Array], dict[Any, int]]:
        given = [x[position_along(over)] if over else x for x, over in zip(operands, stacks)]
        return evaluate(jaxpr, *given), {a: position_along((a,)) for a in manual_axes}

    result = run_on_devices(sizes, one)
    results: list[Array] = []
    for i, aval in enumerate(jaxpr.out_avals):
        over = stacked_over(aval, manual_axes)
        first = [
            outs[i] for outs, at in result if all(not n for a, n in at.items() if a not in over)
        ]
        results.append(np.stack(first) if over else first[0])
    return results


@reference_rules.register(to_parts_p)
def _to_parts(x: Array, *, mesh: Any, spec: PartitionSpec) -> Array:
    for dim, (p, n) in enumerate(zip(spec.partitions, counts(mesh, spec, x.ndim))):
        if n > 1:
            x = np.split(x, n, dim)[position_along(axes_of(p))]
    return x


@reference_rules.register(from_parts_p)
def _from_parts(x: Array, *, mesh: Any, spec: PartitionSpec) -> Array:
    for dim, p in enumerate(spec.partitions):
        if axes_of(p):
            x = np.concatenate(gathered_values(axes_of(p), x), dim)
    return x


@reference_rules.register(shard_alike_p)
def _shard_alike(*operands: Array) -> list[Array]:
    return list(operands)


@reference_rules.register(one_of_parts_p)
def _one_of_parts(x: Array, **params: Any) -> Array:
    return x
