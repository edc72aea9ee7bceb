"""Parts of arrays with a mapped axis, which no axis of the mesh divides but that of ``vmap``."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NoReturn

from dovetail_base.errors import ShardingTypeError
from dovetail_batching import Axis, batch_rules, batch_values
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Primitive,
    Var,
    algebra,
    eval_jaxpr,
    here,
    programs,
    stage_closed,
    typeof,
)

from ..constraints import shard_alike_p
from ..contexts import get_abstract_mesh
from ..manual.high import high_from_parts_p, high_to_parts_p
from ..manual.primitives import (
    from_parts_p,
    named,
    one_of_parts_p,
    shard_map_p,
    stacked_over,
    to_parts_p,
)
from ..partitioning.function import custom_partitioning_p
from ..specs import PartitionSpec, axes_of
from ..types.resharding import left_unreduced_p, reshard_p


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
    """Values with equal shardings; if one is not mapped, they are left as they are, since the
    constraint on elements cannot be expressed."""
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
        explicit = dst_sharding.mesh.explicit_axes
        parts.insert(d, axis.explicit_mesh_axis if explicit else None)
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


@batch_rules.register(shard_map_p)
def _shard_map(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, jaxpr: Any, mesh: Any, manual_axes: Any
) -> Any:
    explicit = axes_of(axis.explicit_mesh_axis)
    names = tuple(axis.spmd_name or explicit)
    if not names or (explicit and not {*explicit} & {*manual_axes}):
        return NotImplemented  # the axis is whole on each device, or none of the function's
    if used := [n for n in names if n in _used(jaxpr)]:
        _refuse_axis(used[0], jaxpr.jaxpr.name, bool(explicit))
    if not _divides(axis, names, jaxpr, mesh, manual_axes):
        rest = tuple([a for a in manual_axes if a not in names])
        if not explicit or not rest:
            return NotImplemented
        # The compiler divides the mapped axis, along axes along which the function sees wholes.
        derived = batch_rules.fallback(shard_map_p)
        return derived(axis, args, dims, jaxpr=jaxpr, mesh=mesh, manual_axes=rest)
    front = [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    along = {"mesh": mesh.abstract_mesh, "spec": PartitionSpec(names)}
    small = Axis(axis.size // prod(mesh.shape[n] for n in names), axis.name)
    out_dims: list[Any] = []

    def over(*xs: Any) -> list[Any]:
        flags = [None if d is None else 0 for d in dims]
        parts = [x if d is None else to_parts_p.bind(x, **along) for x, d in zip(xs, flags)]
        result = batch_values(
            lambda *each: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *each), small, parts, flags
        )
        out_dims[:] = [None if d is None else 0 for _, d in result]
        return [
            x if d is None else from_parts_p.bind(algebra().move_axis(x, d, 0), **along)
            for x, d in result
        ]

    program = stage_closed(over, [typeof(x) for x in front], jaxpr.jaxpr.name)
    program = ClosedJaxpr(_fused(program.jaxpr), program.consts)
    axes = tuple([a for a in mesh.axis_names if a in (*manual_axes, *names)])
    return shard_map_p.bind(*front, jaxpr=program, mesh=mesh, manual_axes=axes), list(out_dims)


def _divides(axis: Any, names: Any, jaxpr: ClosedJaxpr, mesh: Any, manual: Any) -> bool:
    """True if axes of the mesh that the program does not use can divide the mapped axis."""
    around = get_abstract_mesh().manual_axes
    if axis.name is not None or any(n not in mesh.axis_names or n in around for n in names):
        return False
    if axis.size % prod(mesh.shape[n] for n in names):
        return False
    return not any(stacked_over(a, manual) for a in (*jaxpr.in_avals, *jaxpr.out_avals))


def _used(jaxpr: ClosedJaxpr) -> set[Any]:
    """The axes of the mesh that specs and collectives of a program name."""
    result: set[Any] = set()
    for eqn in (e for p in programs.walk_programs(jaxpr) for e in programs.open_program(p).eqns):
        spec = eqn.params.get("spec")
        used = named(spec) if isinstance(spec, PartitionSpec) else eqn.params.get("axes", ())
        result.update(used if isinstance(used, tuple) else ())
    return result


def _refuse_axis(name: Any, function: str, explicit: bool) -> NoReturn:
    what = "types divide the mapped axis along it" if explicit else f"spmd_axis_name is {name!r}"
    remedy = "reshard the argument" if explicit else "leave it out"
    error = ShardingTypeError if explicit else ValueError
    raise error(
        f"vmap of shard_map of {function}{here()}: the function uses the axis {name!r} of the "
        f"mesh, in specs or collectives, and {what}. Divide the mapped axis along another one, or "
        f"{remedy}."
    )


def _fused(jaxpr: Jaxpr) -> Jaxpr:
    """The program with one operation for two that divide, or join, a value in turn."""
    uses: dict[Any, int] = {}
    for v in [*jaxpr.outvars, *[v for e in jaxpr.eqns for v in e.invars]]:
        if v.__class__ is Var:
            uses[v] = uses.get(v, 0) + 1
    makers: dict[Any, Eqn] = {}
    eqns: list[Eqn] = []
    for eqn in jaxpr.eqns:
        first = makers.get(eqn.invars[0]) if eqn.primitive in (to_parts_p, from_parts_p) else None
        if first is not None and first.primitive is eqn.primitive and uses[eqn.invars[0]] == 1:
            specs = first.params["spec"], eqn.params["spec"]
            order = specs if eqn.primitive is to_parts_p else specs[::-1]
            eqns.remove(first)
            params = {**eqn.params, "spec": _together(*order)}
            eqn = eqn.replace(invars=first.invars, params=params)
        if eqn.primitive in (to_parts_p, from_parts_p):
            makers[eqn.outvars[0]] = eqn
        eqns.append(eqn)
    return jaxpr.replace(eqns=eqns)


def _together(outer: PartitionSpec, inner: PartitionSpec) -> PartitionSpec:
    count = max(len(outer), len(inner))
    one, two = ([*s.partitions, *[None] * count][:count] for s in (outer, inner))
    return PartitionSpec(*[(*axes_of(p), *axes_of(q)) for p, q in zip(one, two)])


@batch_rules.register(custom_partitioning_p)
def _custom_partitioning(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, call: ClosedJaxpr, mapped: Any,
    **params: Any,
) -> tuple[Any, Any]:  # fmt: skip
    front = [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    flags = tuple([d is not None for d in dims])

    def over(*xs: Any) -> list[Any]:
        def element(*each: Any) -> Any:
            return eval_jaxpr(call.jaxpr, call.consts, *each)

        result = batch_values(element, axis, xs, [0 if f else None for f in flags])
        return [
            algebra().broadcast(x, axis.size, 0) if d is None else algebra().move_axis(x, d, 0)
            for x, d in result
        ]

    program = stage_closed(over, [typeof(x) for x in front], call.jaxpr.name)
    made = (True,) * len(program.out_avals)
    outs = custom_partitioning_p.bind(
        *front, call=program, mapped=(*mapped, (flags, made)), **params
    )
    return outs, [0] * len(outs)
