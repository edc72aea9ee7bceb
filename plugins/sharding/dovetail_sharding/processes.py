"""Values that several processes have in common; in a single process, which knows them all."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from dovetail_backends import device_get, device_put, process_count
from dovetail_core import EVAL, get_trace
from dovetail_core.base import arguments
from dovetail_core.base.source import here, short_repr
from dovetail_core.tree.util import broadcast_prefix, tree_flatten, tree_map
from dovetail_core.xla.arrays import ArrayImpl

from .constraints import with_sharding_constraint
from .grids import NamedSharding
from .meshes import Mesh
from .specs import PartitionSpec


class ProcessFailureError(Exception):
    """A process failed.

    Attributes:
        failed_devices: its devices.
    """

    def __init__(self, failed_devices: set[Any]) -> None:
        self.failed_devices = failed_devices
        super().__init__(
            f"processes failed, with the devices {sorted(d.id for d in failed_devices)}: start "
            "them again, or go on with the devices that are left."
        )


def _alone(name: str) -> None:
    if process_count() > 1:
        raise NotImplementedError(
            f"{name}{here()} in one of {process_count()} processes: only a single process is "
            "supported."
        )


def sync_global_devices(name: str) -> None:
    """Wait until every process has called this with ``name``. A single one does not wait.

    Raises:
        TypeError: ``name`` is no string.
    """
    arguments.string("name", name)
    _alone("sync_global_devices")


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The leaves of ``in_tree``, as NumPy arrays, that one process has.

    Args:
        is_source: whether that is this process; by default it is the process number 0. A single
            process is the source whatever it says.
    """
    _alone("broadcast_one_to_all")
    return tree_map(np.asarray, device_get(in_tree))


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The leaves of all processes' ``in_tree`` together, as NumPy arrays.

    Args:
        tiled: join them along their first axis, rather than along a new one in front of it.
    """
    _alone("process_allgather")
    return tree_map(
        lambda x: np.asarray(x) if tiled else np.asarray(x)[np.newaxis], device_get(in_tree)
    )


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError unless ``in_tree`` is the same in every process.

    A single process's is.
    """
    _alone("assert_equal")
    for x in tree_flatten(in_tree)[0]:
        np.asarray(x)


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether all processes are to save their state at this step, because one is to be ended.

    Nobody tells a process that was not started as one of several, so that it never is.
    """
    arguments.integer("step_id", step_id)
    _alone("reached_preemption_sync_point")
    return False


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
    put = device_put if get_trace() is EVAL else with_sharding_constraint
    return _each(name, put, local_inputs, global_mesh, pspecs)


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

    name = "global_array_to_host_local_array"
    return _each(name, local, global_inputs, global_mesh, pspecs)


def _each(name: str, function: Any, inputs: Any, mesh: Mesh, pspecs: Any) -> Any:
    _alone(name)
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


def live_devices(devices: Iterable[Any]) -> AbstractContextManager[list[Any]]:
    """Those of some devices whose processes live, for the length of a ``with`` block.

    Raises:
        RuntimeError: this process was not started as one of several.
    """
    raise RuntimeError(
        f"live_devices{here()}: this process was not started as one of several, so that no device "
        "can go. Use the devices as they are."
    )
