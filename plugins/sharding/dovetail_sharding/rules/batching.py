"""Parts of arrays with a mapped axis, which no axis of the mesh divides but that of ``vmap``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive, algebra

from ..alike import shard_alike_p
from ..manual.high import high_from_parts_p, high_to_parts_p
from ..manual.primitives import from_parts_p, one_of_parts_p, to_parts_p
from ..types.casting import left_unreduced_p, reshard_p


def _boundary(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[Any], *, mesh: Any, spec: Any
    ) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        if primitive is from_parts_p:  # results have it first, and wholes should not be moved
            x, d = algebra().move_axis(x, d, 0), 0
        given = [*spec.partitions, *[None] * d][: max(d, len(spec.partitions))]
        given.insert(d, None)
        return primitive.bind(x, mesh=mesh, spec=spec.update(partitions=tuple(given))), d

    batch_rules.set(primitive, rule)


_boundary(to_parts_p)
_boundary(from_parts_p)


@batch_rules.register(one_of_parts_p)
def _one_of_parts(axis: Any, args: Any, dims: Any, **params: Any) -> tuple[Any, Any]:
    return one_of_parts_p.bind(*args, **params), dims[0]


@batch_rules.register(shard_alike_p)
def _shard_alike(axis: Any, args: Any, dims: Any) -> tuple[Any, Any]:
    """Of operands of which one is not mapped, the elements of the other are divided as it is: there
    is no saying that."""
    if None in dims:
        return list(args), list(dims)
    x, y = (algebra().move_axis(a, d, 0) for a, d in zip(args, dims))
    return shard_alike_p.bind(x, y), [0, 0]


def _cast(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Any, dims: Any, *, dst_sharding: Any, **params: Any
    ) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        spec = dst_sharding.spec
        parts = [*spec.partitions, *[None] * (x.ndim - 1 - len(spec))]
        told = dst_sharding.mesh.explicit_axes
        parts.insert(d, axis.explicit_mesh_axis if told else None)
        wider = dst_sharding.update(spec=spec.update(partitions=parts))
        return primitive.bind(x, dst_sharding=wider, **params), d

    batch_rules.set(primitive, rule)


_cast(reshard_p)
_cast(left_unreduced_p)


def _high(primitive: Primitive) -> None:
    def rule(axis: Any, args: Any, dims: Any, *, mapped: Any, **params: Any) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        return primitive.bind(x, mapped=((axis.size, d), *mapped), **params), d

    batch_rules.set(primitive, rule)


_high(high_to_parts_p)
_high(high_from_parts_p)
