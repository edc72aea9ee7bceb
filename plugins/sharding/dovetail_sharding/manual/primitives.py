"""Primitives of ``shard_map``: the call of a program that each device runs, and its boundary.

The program takes and returns arrays as wholes. It begins with the parts of its inputs
(``to_parts``) and ends with wholes made of parts (``from_parts``), so that what is differentiated
or mapped is an ordinary program. An input or output that varies over axes of the mesh, as a
residual does, is on the outside the stack of its parts, along a leading axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    HiType,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    manual_axis_types,
    register_hitype,
)

from .. import texts as texts
from ..shardy import NamedSharding
from ..specs import PartitionSpec, axes_of


class Stack:
    """A value of different parts on the devices: the stacks of the parts of its arrays."""

    __slots__ = ("aval", "arrays")

    def __init__(self, aval: StackType, arrays: tuple[Any, ...]) -> None:
        self.aval, self.arrays = aval, arrays


@dataclass(frozen=True)
class StackType(HiType):
    """The type of values of type ``part``, one on each device; residuals have such types.

    Attributes:
        mesh: of the devices. axes: of it, along which parts may differ.
    """

    part: Any
    mesh: Any
    axes: tuple[Any, ...]

    def lo_ty(self) -> Any:
        return [self._outside(a) for a in self.part.lo_ty()]

    def _outside(self, aval: Any) -> Any:
        return outside(aval, self.mesh, self.axes)

    def lower_val(self, value: Stack) -> Any:
        return value.arrays

    def raise_val(self, *arrays: Any) -> Stack:
        return Stack(self, arrays)

    def tangent_type(self) -> Any:
        return self._outside(self.part.tangent_type())

    def str_short(self) -> str:
        return f"stack of {self.part.str_short()}"


register_hitype(Stack, lambda x: x.aval)


def stacked_over(aval: Any, axes: Sequence[Any]) -> tuple[Any, ...]:
    """The axes over which an input or output of a program is a stack, in the mesh's order: those
    along which devices have different values or summands, or cotangents of these kinds."""
    varying_axes = manual_axis_types.axes_of(aval.vma)
    return tuple(a for a in axes if a in varying_axes)


def outside(aval: Any, mesh: Any, axes: Sequence[Any]) -> Any:
    """The type, on the outside, of an input or output of a program."""
    if isinstance(aval, HiType):
        if not any(stacked_over(a, axes) for a in aval.lo_ty()):
            return aval
        return StackType(aval, mesh.abstract_mesh, tuple(axes))
    over = stacked_over(aval, axes)
    if not over:
        return aval
    left = frozenset([r for r in aval.vma if manual_axis_types.axis_of(r) not in over])
    size = prod(mesh.shape[a] for a in over)
    return aval.update(shape=(size, *aval.shape), vma=left)


DIVIDED = Kind("DIVIDED", Kind.CONSTANT.rank, leading=True)
STACK = Kind("STACK", Kind.PLAIN.rank, leading=True)


def named(spec: PartitionSpec) -> tuple[Any, ...]:
    """The axes of the mesh that a spec names."""
    return tuple(a for p in spec.partitions for a in axes_of(p))


def counts(mesh: Any, spec: PartitionSpec, ndim: int) -> list[int]:
    """The number of parts of each dimension."""
    given = [*spec.partitions, *[None] * ndim][:ndim]
    return [prod(mesh.shape[a] for a in axes_of(p)) for p in given]


def roles(spec: PartitionSpec) -> frozenset[Any]:
    """The manual axes of parts by a spec: those over which they vary, and those of other roles."""
    return manual_axis_types.vma_of(named(spec), spec.unreduced, spec.reduced)


def has_parts(spec: PartitionSpec) -> bool:
    """True if a spec names an axis in any role."""
    return bool(named(spec) or spec.unreduced or spec.reduced)


_MEANING = {"mesh": "the mesh", "spec": "the axes of it that divide each dimension"}

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
    removed, own = set(named(spec)), x.divided.spec.partitions
    left = [tuple([a for a in axes_of(p) if a not in removed]) for p in own]
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
    global_spec = PartitionSpec(*both, unreduced=spec.unreduced, reduced=spec.reduced)
    return x.update(shape=shape, sharding=NamedSharding(mesh, global_spec))


one_of_parts_p = Primitive("one_of_parts").def_traits(
    linear=((0,),),
    moves=True,
    parameters={"axes": "the axes along which parts are equal", "count": "the number of parts"},
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
