"""Primitives of ``shard_map``: the call of a program that each device runs, and its boundary.

The program takes and returns arrays as wholes. It begins with the parts of its inputs
(``to_parts``) and ends with wholes made of parts (``from_parts``), so that what is differentiated
or mapped is an ordinary program. An input or output that varies over axes of the mesh, as a
residual does, is on the outside the stack of its parts, along a leading axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    manual_axis_types,
)

from .. import texts as texts  # so that programs with these can be printed and parsed
from ..grids import NamedSharding
from ..specs import PartitionSpec, axes_of
from .stacks import outside, stacked_over

DIVIDED = Kind("DIVIDED", Kind.CONSTANT.rank, leading=True)
STACK = Kind("STACK", Kind.PLAIN.rank, leading=True)


def named(spec: PartitionSpec) -> tuple[Any, ...]:
    """The axes of the mesh that a spec names."""
    return tuple(a for p in spec.partitions for a in axes_of(p))


def counts(mesh: Any, spec: PartitionSpec, ndim: int) -> list[int]:
    """Into how many parts each dimension is divided."""
    given = [*spec.partitions, *[None] * ndim][:ndim]
    return [prod(mesh.shape[a] for a in axes_of(p)) for p in given]


def roles(spec: PartitionSpec) -> frozenset[Any]:
    """What a spec says of parts: the axes over which they vary, and those of other roles."""
    return manual_axis_types.vma_of(named(spec), spec.unreduced, spec.reduced)


def has_parts(spec: PartitionSpec) -> bool:
    """Whether a spec says anything of what devices have."""
    return bool(named(spec) or spec.unreduced or spec.reduced)


_MEANING = {"mesh": "the mesh", "spec": "which axes of it divide which dimension"}

to_parts_p = Primitive("to_parts").def_traits(
    linear=((0,),),
    moves=True,
    divides=True,
    parameters=_MEANING,
    varies=lambda vma, params: vma.union(roles(params["spec"])),
)


@to_parts_p.def_abstract_eval
def _to_parts(x: Any, *, mesh: Any, spec: PartitionSpec) -> Any:
    shape = tuple(n // k for n, k in zip(x.shape, counts(mesh, spec, x.ndim)))
    if x.divided is None:
        return x.update(shape=shape)
    gone, own = set(named(spec)), x.divided.spec.partitions
    left = [tuple([a for a in axes_of(p) if a not in gone]) for p in own]
    return x.update(shape=shape, sharding=NamedSharding(x.divided.mesh, PartitionSpec(*left)))


from_parts_p = Primitive("from_parts").def_traits(
    linear=((0,),),
    moves=True,
    divides=True,
    parameters=_MEANING,
    varies=lambda vma, params: vma.difference(roles(params["spec"])),
)


@from_parts_p.def_abstract_eval
def _from_parts(x: Any, *, mesh: Any, spec: PartitionSpec) -> Any:
    shape = tuple(n * k for n, k in zip(x.shape, counts(mesh, spec, x.ndim)))
    own = [None] * x.ndim if x.divided is None else x.divided.spec.partitions
    given = [*spec.partitions, *[None] * x.ndim]
    both = [(*axes_of(p), *axes_of(q)) for p, q in zip(given, own)]
    whole = PartitionSpec(*both, unreduced=spec.unreduced, reduced=spec.reduced)
    return x.update(shape=shape, sharding=NamedSharding(mesh, whole))


one_of_parts_p = Primitive("one_of_parts").def_traits(
    linear=((0,),),
    moves=True,
    parameters={"axes": "along which any part is taken", "count": "how many there are"},
    varies=lambda vma, params: vma.difference(params["axes"]),
)


@one_of_parts_p.def_abstract_eval
def _one_of_parts(x: Any, *, axes: tuple[Any, ...], count: int) -> Any:
    return x


shard_map_p = Primitive("shard_map", multiple_results=True)
shard_map_p.def_traits(
    parameters={
        "jaxpr": "program of the function",
        "mesh": "the mesh",
        "manual_axes": "the axes along which the function sees parts",
    },
    places=lambda params: [NamedSharding(params["mesh"], PartitionSpec())],
)


@shard_map_p.def_effectful_abstract_eval
def _type(*avals: Any, jaxpr: ClosedJaxpr, mesh: Any, manual_axes: tuple[Any, ...]) -> Any:
    return [outside(a, mesh, manual_axes) for a in jaxpr.out_avals], jaxpr.effects


@shard_map_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    program, axes = params["jaxpr"], params["manual_axes"]

    def rebuild(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> dict[str, Any]:
        return {**params, "jaxpr": programs[0]}

    ins, outs = program.in_avals, program.out_avals
    return RegionInterface(
        (Region(program, tuple(range(len(ins))), tuple(range(len(outs)))),),
        tuple([DIVIDED if stacked_over(a, axes) else Kind.CONSTANT for a in ins]),
        tuple([STACK if stacked_over(a, axes) else Kind.PLAIN for a in outs]),
        rebuild,
        axes=axes,
    )
