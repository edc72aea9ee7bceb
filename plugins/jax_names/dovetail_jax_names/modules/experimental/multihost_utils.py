"""``jax.experimental.multihost_utils``: what processes do together; here there is one."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np

from dovetail_backends import device_put
from dovetail_core.tree.util import broadcast_prefix, tree_flatten, tree_map, tree_unflatten

from ...names import home


def sync_global_devices(name: str) -> None:
    """Wait until all processes are here."""


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The arrays of all processes, as NumPy arrays: stacked along a new first axis; joined along
    the first one if ``tiled``."""
    return tree_map(lambda x: np.asarray(x) if tiled else np.asarray(x)[None], in_tree)


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The arrays of the first process, or of that whose ``is_source`` is set, as NumPy arrays.

    Raises:
        ValueError: this process, which is the only one, is not the source.
    """
    if is_source is not None and not is_source:
        raise ValueError("broadcast_one_to_all: no process is the source; there is one process")
    return tree_map(np.asarray, in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """That all processes have the same arrays."""


def reached_preemption_sync_point(step_id: int) -> bool:
    """Whether the processes are told to save their state before they are stopped: they are not."""
    return False


def host_local_array_to_global_array(local_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """The arrays of all processes as parts of arrays over a mesh.

    Args:
        pspecs: a ``PartitionSpec`` for each array, or for several.

    Raises:
        ValueError: a spec is None.
    """
    return _placed(local_inputs, global_mesh, pspecs)


def global_array_to_host_local_array(global_inputs: Any, global_mesh: Any, pspecs: Any) -> Any:
    """This process's part of arrays over a mesh, which is all of them. As the other one."""
    return _placed(global_inputs, global_mesh, pspecs)


def _placed(arrays: Any, mesh: Any, specs: Any) -> Any:
    sharding = import_module(home("jax.sharding"))
    leaves, tree = tree_flatten(arrays)

    def is_spec(x: Any) -> bool:
        return x is None or isinstance(x, sharding.PartitionSpec)

    found: Sequence[Any] = broadcast_prefix(specs, arrays, is_leaf=is_spec)
    if None in found:
        raise ValueError(
            "pspecs has None, which is no PartitionSpec; PartitionSpec() is that of an array that "
            "every device has whole"
        )
    placed = [device_put(x, sharding.NamedSharding(mesh, s)) for x, s in zip(leaves, found)]
    return tree_unflatten(tree, placed)


@contextmanager
def live_devices(devices: Sequence[Any]) -> Generator[Sequence[Any]]:
    """The devices whose processes are alive.

    Raises:
        RuntimeError: the program is not one of several processes.
    """
    raise RuntimeError(
        "live_devices is for programs of several processes, and this is one. All of its devices "
        "are alive: dovetail.devices()."
    )
    yield devices
