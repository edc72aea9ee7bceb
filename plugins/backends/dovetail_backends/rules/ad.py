"""Derivatives and transposes of placement and of constraints on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules, transpose_rules
from dovetail_xla.arrays import ArrayImpl

from ..placement import device_put_p, sharding_constraint_p


@jvp_rules.register(device_put_p)
def _device_put_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], **params: Any
) -> tuple[Any, Any]:
    (x,), (dx,) = primals, tangents
    src = params["src"]
    if src is None and x.__class__ is ArrayImpl:
        src = x._sharding  # the sharding of the cotangent
    moved = {**params, "src": src, "donate": False}
    return device_put_p.bind(x, **params), device_put_p.bind(dx, **moved)


@transpose_rules.register(device_put_p)
def _device_put_transpose(
    cotangent: Any, x: Any, *, device: Any, src: Any, donate: bool, may_alias: bool | None
) -> list[Any]:
    # A donation is of the primal's memory, not of the cotangent's.
    back = device_put_p.bind(cotangent, device=src, src=device, donate=False, may_alias=may_alias)
    return [back]


@jvp_rules.register(sharding_constraint_p)
def _sharding_constraint_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, sharding: Any
) -> tuple[Any, Any]:
    def at(x: Any) -> Any:
        return sharding_constraint_p.bind(x, sharding=sharding)

    return at(*primals), at(*tangents)


@transpose_rules.register(sharding_constraint_p)
def _sharding_constraint_transpose(cotangent: Any, x: Any, *, sharding: Any) -> list[Any]:
    return [sharding_constraint_p.bind(cotangent, sharding=sharding)]
