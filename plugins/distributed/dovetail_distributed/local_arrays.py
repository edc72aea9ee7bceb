"""Arrays of one process, and arrays of all processes of which those are parts."""

from __future__ import annotations

from typing import Any

from dovetail_backends import device_put
from dovetail_base.source import here, short_repr
from dovetail_core import EVAL, Primitive, get_trace
from dovetail_sharding import Mesh, NamedSharding, PartitionSpec
from dovetail_sharding.parts import with_sharding_constraint
from dovetail_tree.util import broadcast_prefix, tree_flatten
from dovetail_xla.arrays import ArrayImpl

from .casting import to_global_p, to_local_p


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Mesh, pspecs: Any) -> Any:
    """Arrays on a mesh, of which each process gives the part that its devices hold.

    A single process gives whole arrays. It can be differentiated and mapped; among several
    processes it cannot be in functions that are compiled.

    Args:
        local_inputs: a pytree of arrays. global_mesh: where the results are.
        pspecs: how they are divided: a PartitionSpec, or a pytree of them, a prefix of the inputs.

    Raises:
        ValueError: a spec is None, or of another structure; the shards do not divide an array.
    """
    name = "host_local_array_to_global_array"

    alone = device_put if get_trace() is EVAL else with_sharding_constraint
    chosen = _by(to_global_p) if global_mesh.is_multi_process else alone
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
        local = _by(to_local_p)
    name = "global_array_to_host_local_array"
    return _each(name, local, global_inputs, global_mesh, pspecs)


def _by(primitive: Primitive) -> Any:
    return lambda x, place: primitive.bind(x, mesh=place.mesh, spec=place.spec)


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
