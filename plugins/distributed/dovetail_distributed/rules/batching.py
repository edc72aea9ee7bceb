"""Batching of conversions between local and global arrays; the mapped axis is not divided."""

from __future__ import annotations

from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ..local_arrays import to_global_p, to_local_p


def _mapped(primitive: Primitive) -> None:
    def rule(axis: Any, args: Any, dims: Any, *, mesh: Any, spec: Any) -> tuple[Any, Any]:
        (x,), (d,) = args, dims
        given = [*spec.partitions, *[None] * x.ndim][: x.ndim - 1]
        given.insert(d, None)
        return primitive.bind(x, mesh=mesh, spec=spec.update(partitions=tuple(given))), d

    batch_rules.set(primitive, rule)


_mapped(to_global_p)
_mapped(to_local_p)
