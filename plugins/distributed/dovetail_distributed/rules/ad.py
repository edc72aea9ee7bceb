"""Derivatives of conversions between local and global arrays, each the other's transpose."""

from __future__ import annotations

from typing import Any

from dovetail_ad import jvp_rules, transpose_rules
from dovetail_backends import device_put
from dovetail_core import Primitive
from dovetail_sharding import NamedSharding

from ..local_arrays import to_global_p, to_local_p


def _linear(primitive: Primitive, other: Primitive) -> None:
    def forward(primals: Any, tangents: Any, **params: Any) -> tuple[Any, Any]:
        return primitive.bind(*primals, **params), primitive.bind(*tangents, **params)

    def backward(ct: Any, x: Any, *, mesh: Any, spec: Any) -> list[Any]:
        if primitive is to_global_p:  # a cotangent that was made here, like that of a sum
            ct = device_put(ct, NamedSharding(mesh, spec))
        return [other.bind(ct, mesh=mesh, spec=spec)]

    jvp_rules.set(primitive, forward)
    transpose_rules.set(primitive, backward)


_linear(to_global_p, to_local_p)
_linear(to_local_p, to_global_p)
