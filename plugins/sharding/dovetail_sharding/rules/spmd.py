"""``vmap`` of ``shard_map`` with a mapped axis that axes of the mesh divide: those that are given
as ``spmd_axis_name``, or that types tell of."""

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
    Var,
    algebra,
    eval_jaxpr,
    here,
    programs,
    stage_closed,
    typeof,
)

from ..contexts import get_abstract_mesh
from ..manual.primitives import from_parts_p, named, shard_map_p, to_parts_p
from ..manual.stacks import stacked_over
from ..specs import PartitionSpec, axes_of


@batch_rules.register(shard_map_p)
def _shard_map(
    axis: Any, args: Sequence[Any], dims: Sequence[Any], *, jaxpr: Any, mesh: Any, manual_axes: Any
) -> Any:
    told = axes_of(axis.explicit_mesh_axis)
    names = tuple(axis.spmd_name or told)
    if not names or (told and not {*told} & {*manual_axes}):
        return NotImplemented  # the axis is whole on each device, or none of the function's
    if used := [n for n in names if n in _used(jaxpr)]:
        _refuse_axis(used[0], jaxpr.jaxpr.name, bool(told))
    if not _divides(axis, names, jaxpr, mesh, manual_axes):
        rest = tuple([a for a in manual_axes if a not in names])
        if not told or not rest:
            return NotImplemented
        # The compiler divides the mapped axis, along axes along which the function sees wholes.
        derived = batch_rules.fallback(shard_map_p)
        return derived(axis, args, dims, jaxpr=jaxpr, mesh=mesh, manual_axes=rest)
    front = [x if d is None else algebra().move_axis(x, d, 0) for x, d in zip(args, dims)]
    along = {"mesh": mesh.abstract_mesh, "spec": PartitionSpec(names)}
    small = Axis(axis.size // prod(mesh.shape[n] for n in names), axis.name)
    places: list[Any] = []

    def over(*xs: Any) -> list[Any]:
        flags = [None if d is None else 0 for d in dims]
        parts = [x if d is None else to_parts_p.bind(x, **along) for x, d in zip(xs, flags)]
        result = batch_values(
            lambda *each: eval_jaxpr(jaxpr.jaxpr, jaxpr.consts, *each), small, parts, flags
        )
        places[:] = [None if d is None else 0 for _, d in result]
        return [
            x if d is None else from_parts_p.bind(algebra().move_axis(x, d, 0), **along)
            for x, d in result
        ]

    program = stage_closed(over, [typeof(x) for x in front], jaxpr.jaxpr.name)
    program = ClosedJaxpr(_fused(program.jaxpr), program.consts)
    axes = tuple([a for a in mesh.axis_names if a in (*manual_axes, *names)])
    return shard_map_p.bind(*front, jaxpr=program, mesh=mesh, manual_axes=axes), list(places)


def _divides(axis: Any, names: Any, jaxpr: ClosedJaxpr, mesh: Any, manual: Any) -> bool:
    """Whether the axis divides along axes of the mesh that the program says nothing about."""
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


def _refuse_axis(name: Any, function: str, told: bool) -> NoReturn:
    what = "types divide the mapped axis along it" if told else f"spmd_axis_name is {name!r}"
    remedy = "reshard the argument" if told else "leave it out"
    error = ShardingTypeError if told else ValueError
    raise error(
        f"vmap of shard_map of {function}{here()}: the function uses the axis {name!r} of the "
        f"mesh, in specs or collectives, and {what}. Divide the mapped axis along another one, or "
        f"{remedy}."
    )


def _fused(jaxpr: Jaxpr) -> Jaxpr:
    """With one operation where a whole is divided twice, or joined twice."""
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
