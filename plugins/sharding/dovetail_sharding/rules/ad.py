"""Tangents and cotangents of parts: dividing and joining are each other's transposes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_ad import jvp_rules, transpose_rules
from dovetail_core import Primitive, algebra, float0, typeof
from dovetail_lax import pvary_p

from ..constraints import shard_alike_p
from ..manual.high import (
    from_parts,
    high_from_parts_p,
    high_to_parts_p,
    refuse_unchecked,
    to_parts,
)
from ..manual.primitives import from_parts_p, named, one_of_parts_p, to_parts_p
from ..types.resharding import forget, left_unreduced_p, reshard_p


def _linear(primitive: Primitive) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        return primitive.bind(*primals, **params), primitive.bind(*tangents, **params)

    jvp_rules.set(primitive, rule)


for _p in (reshard_p, to_parts_p, from_parts_p, one_of_parts_p):
    _linear(_p)


def _vary(x: Any, axes: Sequence[Any]) -> Any:
    more = tuple(a for a in axes if a not in typeof(x).vma)
    return pvary_p.bind(x, axes=more) if more else x


@transpose_rules.register(to_parts_p)
def _to_parts_transpose(ct: Any, x: Any, *, mesh: Any, spec: Any) -> list[Any]:
    back = _dual(spec)
    return [from_parts_p.bind(_vary(ct, named(spec)), mesh=mesh, spec=back)]


@transpose_rules.register(from_parts_p)
def _from_parts_transpose(ct: Any, x: Any, *, mesh: Any, spec: Any) -> list[Any]:
    return [to_parts_p.bind(ct, mesh=mesh, spec=_dual(spec))]


def _dual(spec: Any) -> Any:
    """The spec of cotangents: unreduced axes are reduced there, and the reverse."""
    if not spec.unreduced and not spec.reduced:
        return spec
    return spec.update(unreduced=spec.reduced, reduced=spec.unreduced)


@transpose_rules.register(one_of_parts_p)
def _one_of_parts_transpose(ct: Any, x: Any, *, axes: Any, count: int) -> list[Any]:
    # All parts are equal, so that each has its share of the cotangent.
    share = algebra().full(typeof(ct), np.asarray(1 / count))
    return [_vary(algebra().mul(ct, share), axes)]


@jvp_rules.register(shard_alike_p)
def _shard_alike_jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    return shard_alike_p.bind(*primals), _alike_where_there_are_two(tangents)


def _alike_where_there_are_two(values: Sequence[Any]) -> list[Any]:
    """Tangents or cotangents with equal shardings, if none of them is symbolic or of an integer."""
    if any(x is None or getattr(typeof(x), "dtype", None) == float0 for x in values):
        return list(values)
    return shard_alike_p.bind(*values)


@transpose_rules.register(shard_alike_p)
def _shard_alike_transpose(cts: Sequence[Any], *args: Any) -> list[Any]:
    return _alike_where_there_are_two(cts)


@transpose_rules.register(reshard_p)
def _reshard_transpose(ct: Any, x: Any, *, dst_sharding: Any, auto: Any) -> list[Any]:
    """The cotangent with the sharding of its type, or along ``auto`` axes that of the compiler."""
    return [forget(ct, auto) if auto else ct]


@jvp_rules.register(left_unreduced_p)
def _left_unreduced_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, dst_sharding: Any, direct: bool
) -> tuple[Any, Any]:
    """The tangent may be a sum of several such sums."""
    own = {"dst_sharding": dst_sharding}
    out = left_unreduced_p.bind(*primals, direct=direct, **own)
    return out, left_unreduced_p.bind(*tangents, direct=False, **own)


@transpose_rules.register(left_unreduced_p)
def _left_unreduced_transpose(ct: Any, x: Any, **params: Any) -> list[Any]:
    return [forget(ct)]  # the sum is one of values that the compiler divides


@jvp_rules.register(high_to_parts_p)
def _high_to_parts_jvp(primals: Any, tangents: Any, *, spec: Any, **params: Any) -> Any:
    refuse_unchecked(params["mapping"])
    x: Any = to_parts(x=primals[0], spec=spec, **params)
    return x, to_parts(x=tangents[0], spec=spec.to_tangent_spec(), **params)


@jvp_rules.register(high_from_parts_p)
def _high_from_parts_jvp(primals: Any, tangents: Any, *, spec: Any, **params: Any) -> Any:
    refuse_unchecked(params["mapping"])
    x: Any = from_parts(x=primals[0], spec=spec, **params)
    return x, from_parts(x=tangents[0], spec=spec.to_tangent_spec(), **params)


@transpose_rules.register(high_to_parts_p)
def _high_to_parts_transpose(ct: Any, x: Any, *, spec: Any, **params: Any) -> Any:
    return [from_parts(x=ct, spec=spec.to_ct_spec(), back=True, **params)]


@transpose_rules.register(high_from_parts_p)
def _high_from_parts_transpose(ct: Any, x: Any, *, spec: Any, back: bool, **params: Any) -> Any:
    return [to_parts(x=ct, spec=spec.to_ct_spec(), **params)]
