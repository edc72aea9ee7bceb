"""Arrays of one process, and arrays of all processes of which those are parts."""

from __future__ import annotations

from typing import Any

from dovetail_backends import device_put
from dovetail_core import EVAL, ShapedArray, get_trace
from dovetail_core.base.source import here, short_repr
from dovetail_core.tree.util import broadcast_prefix, tree_flatten
from dovetail_core.xla.arrays import ArrayImpl, assemble, shards_of
from dovetail_sharding import Mesh, NamedSharding, PartitionSpec
from dovetail_sharding.parts import (
    make_array_from_process_local_data,
    tiles,
    with_sharding_constraint,
)


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays on a mesh, of which each process gives the part that its devices hold.

    A single process gives whole arrays.

    Args:
        local_inputs: a pytree of arrays. global_mesh: where the results are.
        pspecs: how they are divided: a PartitionSpec, or a pytree of them, a prefix of the inputs.

    Raises:
        ValueError: a spec is None, or of another structure; the shards do not divide an array.
    """
    name = "host_local_array_to_global_array"

    def put(x: Any, place: NamedSharding) -> Any:
        if x.__class__ is ArrayImpl and not x.is_fully_addressable:
            return x
        return make_array_from_process_local_data(place, x)

    alone = device_put if get_trace() is EVAL else with_sharding_constraint
    chosen = put if global_mesh.is_multi_process else alone
    return _each(name, chosen, local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Of arrays on a mesh the part that the devices of this process hold, as arrays on these.

    In a single process those are the arrays themselves.

    Args:
        global_inputs: a pytree of arrays. global_mesh: where they are.
        pspecs: how the results are divided (see :func:`host_local_array_to_global_array`).

    Raises:
        ValueError: a spec is None, or of another structure.
    """

    def local(x: Any, place: NamedSharding) -> Any:
        at_rest = get_trace() is EVAL and x.__class__ is not ArrayImpl
        return device_put(x, place) if at_rest else x

    if global_mesh.is_multi_process:
        local = _part
    name = "global_array_to_host_local_array"
    return _each(name, local, global_inputs, global_mesh, pspecs)


def _part(x: Any, place: NamedSharding) -> Any:
    """The part of ``x`` that this process's devices hold, on their part of the mesh."""
    if x.__class__ is ArrayImpl and x.is_fully_addressable:
        return x
    if x.__class__ is not ArrayImpl or not x.sharding.is_equivalent_to(place, x.ndim):
        x = device_put(x, place)
    mesh = place.mesh.local_mesh
    local = NamedSharding(mesh, place.spec)
    shape = [n // t for n, t in zip(x.shape, tiles(place.mesh, place.spec, x.ndim))]
    own = tuple(n * t for n, t in zip(shape, tiles(mesh, place.spec, x.ndim)))
    held: list[Any] = shards_of(x)
    by_device = {part.device: part for part in held}
    parts = [by_device[d] for d in local._internal_device_list]
    return assemble(ShapedArray(own, x.dtype, x.weak_type), local, parts)


def _each(name: str, function: Any, inputs: Any, mesh: Mesh, pspecs: Any) -> Any:
    if get_trace() is not EVAL and mesh.is_multi_process:
        raise NotImplementedError(
            f"{name}{here()} of a traced value, on a mesh of several processes: call it on arrays, "
            "outside of traced functions."
        )
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
