"""Operations that make arrays of all processes of those of each, and the other way round.

They are evaluated between programs: no program of one process can make a larger array of others'.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, def_impl, here, typeof
from dovetail_sharding import NamedSharding
from dovetail_sharding.parts import make_array_from_process_local_data, tiles
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

_MEANING = {"mesh": "of all processes", "spec": "how the array on it is divided"}
to_global_p = Primitive("host_local_array_to_global_array").def_traits(
    parameters=_MEANING, linear=((0,),), divides=True
)
to_local_p = Primitive("global_array_to_host_local_array").def_traits(
    parameters=_MEANING, linear=((0,),), divides=True
)


def _scaled(aval: Any, source: Any, target: Any, spec: Any) -> Any:
    """The type of what is divided on another mesh into parts as large."""
    before, after = (tiles(m, spec, aval.ndim) for m in (source, target))
    shape = tuple(n // s * t for n, s, t in zip(aval.shape, before, after))
    return aval.update(shape=shape, sharding=NamedSharding(target, spec))


@to_global_p.def_abstract_eval
def _global_type(x: Any, *, mesh: Any, spec: Any) -> Any:
    return _scaled(x, mesh.local_mesh, mesh, spec)


@to_local_p.def_abstract_eval
def _local_type(x: Any, *, mesh: Any, spec: Any) -> Any:
    return _scaled(x, mesh, mesh.local_mesh, spec)


@def_impl(to_global_p)
def _to_global(x: Any, *, mesh: Any, spec: Any) -> Any:
    if x.__class__ is ArrayImpl and not x.is_fully_addressable:
        return x
    return make_array_from_process_local_data(NamedSharding(mesh, spec), x)


@def_impl(to_local_p)
def _to_local(x: Any, *, mesh: Any, spec: Any) -> Any:
    """The part of ``x`` that this process's devices hold, on their part of the mesh."""
    from dovetail_backends import device_put

    place = NamedSharding(mesh, spec)
    if x.__class__ is ArrayImpl and x.is_fully_addressable:
        return x
    if x.__class__ is not ArrayImpl or not x.sharding.is_equivalent_to(place, x.ndim):
        x = device_put(x, place)
    local = NamedSharding(mesh.local_mesh, spec)
    own = _local_type(typeof(x), mesh=mesh, spec=spec)
    held: list[Any] = shards_of(x)
    by_device = {part.device: part for part in held}
    parts = [by_device[d] for d in local._internal_device_list]
    return assemble(ShapedArray(own.shape, x.dtype, x.weak_type), local, parts)


def refuse_lowering(primitive: Primitive) -> Any:
    """A rule that raises: what only evaluation can do is in a program."""

    def lower(b: Any, x: Any, **params: Any) -> Any:
        raise NotImplementedError(
            f"{primitive.name}{here()} is in a compiled program, where arrays of one process do "
            "not become those of all. Call it on arrays, outside of jit and control flow."
        )

    return lower
