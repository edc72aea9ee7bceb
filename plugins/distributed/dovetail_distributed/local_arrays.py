"""Arrays of one process, and global arrays of which they are parts: conversions and primitives.

The primitives are evaluated between programs: no program of one process can make an array of all.
"""

from __future__ import annotations

from typing import Any

from dovetail_backends import device_put
from dovetail_base.source import here, short_repr
from dovetail_core import EVAL, Primitive, ShapedArray, def_impl, get_trace, typeof
from dovetail_sharding import Mesh, NamedSharding, PartitionSpec
from dovetail_sharding.parts import (
    make_array_from_process_local_data,
    tiles,
    with_sharding_constraint,
)
from dovetail_tree.util import broadcast_prefix, tree_flatten
from dovetail_xla.arrays import ArrayImpl, assemble, shards_of

_MEANING = {"mesh": "the mesh of all processes", "spec": "the spec of the array on it"}
to_global_p = Primitive("host_local_array_to_global_array").def_traits(
    parameters=_MEANING, linear=((0,),), divides=True
)
to_local_p = Primitive("global_array_to_host_local_array").def_traits(
    parameters=_MEANING, linear=((0,),), divides=True
)


def _scaled(aval: Any, source: Any, target: Any, spec: Any) -> Any:
    """The type of an array on another mesh with parts of the same size."""
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

    sharding = NamedSharding(mesh, spec)
    if x.__class__ is ArrayImpl and x.is_fully_addressable:
        return x
    if x.__class__ is not ArrayImpl or not x.sharding.is_equivalent_to(sharding, x.ndim):
        x = device_put(x, sharding)
    local = NamedSharding(mesh.local_mesh, spec)
    own = _local_type(typeof(x), mesh=mesh, spec=spec)
    held: list[Any] = shards_of(x)
    by_device = {part.device: part for part in held}
    parts = [by_device[d] for d in local._internal_device_list]
    return assemble(ShapedArray(own.shape, x.dtype, x.weak_type), local, parts)


def refuse_lowering(primitive: Primitive) -> Any:
    """A lowering rule that raises NotImplementedError: the primitive can only be evaluated."""

    def lower(b: Any, x: Any, **params: Any) -> Any:
        raise NotImplementedError(
            f"{primitive.name}{here()} is in a compiled program, where arrays of one process do "
            "not become those of all. Call it on arrays, outside of jit and control flow."
        )

    return lower


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays on a mesh, of which each process gives the part that its devices hold.

    A single process gives whole arrays. It can be differentiated and mapped; among several
    processes it cannot be in functions that are compiled.

    Args:
        local_inputs: a pytree of arrays. global_mesh: the mesh of the results.
        pspecs: their specs: a PartitionSpec, or a pytree of them, a prefix of the inputs.

    Raises:
        ValueError: a spec is None, or of another structure; the shards do not divide an array.
    """
    name = "host_local_array_to_global_array"

    alone = device_put if get_trace() is EVAL else with_sharding_constraint
    chosen = _by(to_global_p) if global_mesh.is_multi_process else alone
    return _each(name, chosen, local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """The parts of arrays on a mesh that the devices of this process hold, as arrays on these.

    In a single process they are the arrays themselves.

    Args:
        global_inputs: a pytree of arrays. global_mesh: their mesh.
        pspecs: the specs of the results (see :func:`host_local_array_to_global_array`).

    Raises:
        ValueError: a spec is None, or of another structure.
    """

    def local(x: Any, sharding: NamedSharding) -> Any:
        is_host_value = get_trace() is EVAL and x.__class__ is not ArrayImpl
        return device_put(x, sharding) if is_host_value else x

    if global_mesh.is_multi_process:
        local = _by(to_local_p)
    name = "global_array_to_host_local_array"
    return _each(name, local, global_inputs, global_mesh, pspecs)


def _by(primitive: Primitive) -> Any:
    return lambda x, sharding: primitive.bind(x, mesh=sharding.mesh, spec=sharding.spec)


def _each(name: str, function: Any, inputs: Any, mesh: Mesh, pspecs: Any) -> Any:
    leaves, treedef = tree_flatten(inputs)
    try:
        specs = broadcast_prefix(pspecs, inputs, is_leaf=_is_spec)
    except ValueError as e:
        raise ValueError(f"{name}{here()}: pspecs must be a tree prefix of the arrays. {e}") from e
    for spec in specs:
        if not isinstance(spec, PartitionSpec):
            raise ValueError(
                f"{name}{here()}: pspecs has {short_repr(spec)} of type {type(spec).__name__}; "
                "give a PartitionSpec, P() for copies on all devices."
            )
    return treedef.unflatten([function(x, NamedSharding(mesh, s)) for x, s in zip(leaves, specs)])


def _is_spec(x: Any) -> bool:
    return x is None or isinstance(x, PartitionSpec)
