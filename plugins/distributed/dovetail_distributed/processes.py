"""Values exchanged and compared among processes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import device_get, device_put, devices, process_count
from dovetail_base import arguments
from dovetail_base.source import here
from dovetail_core import cached
from dovetail_jit import jit
from dovetail_sharding import Mesh, NamedSharding, PartitionSpec
from dovetail_sharding.parts import make_array_from_callback
from dovetail_tree.util import tree_flatten, tree_map
from dovetail_xla.arrays import ArrayImpl

from .comparing import compare_text
from .state import global_state


def sync_global_devices(name: str) -> None:
    """Wait until every process has called this with ``name``. A single one does not wait.

    Raises:
        TypeError: ``name`` is no string. AssertionError: a process gives another name.
        TimeoutError: a process does not call it (the option ``compare_timeout``); names its line.
    """
    arguments.string("name", name)
    _same(f"sync_global_devices{here()}: name mismatch", f"syncs {name!r}", name.encode())
    if process_count() > 1:
        _gathered(np.zeros((), np.int32))  # behind what the devices are doing


def broadcast_one_to_all(in_tree: Any, is_source: bool | None = None) -> Any:
    """The leaves of ``in_tree``, as NumPy arrays, that one process has.

    Args:
        in_tree: arrays, whose types are the same in all processes.
        is_source: True in that process; by default it is process 0. A single process is always the
            source.
    """
    leaves = tree_map(np.asarray, device_get(in_tree))
    if process_count() == 1:
        return leaves
    source = 0
    if is_source is not None:
        flags = _gathered(np.asarray(is_source, np.int32))
        if flags.sum() != 1:
            raise ValueError(
                f"broadcast_one_to_all{here()}: is_source is true in {flags.sum()} processes; it "
                "must be in one."
            )
        source = int(flags.argmax())
    index = np.int32(source)
    return tree_map(lambda x: np.asarray(_picker(_mesh())(_stack(x), index)), leaves)


def process_allgather(in_tree: Any, tiled: bool = False) -> Any:
    """The leaves of all processes' ``in_tree`` together, as NumPy arrays.

    Args:
        in_tree: values whose types are the same in all processes; or arrays on devices of several
            processes, which are gathered whole.
        tiled: join them along their first axis, rather than along a new one in front of it.

    Raises:
        ValueError: an array on devices of several processes, and ``tiled`` is False.
    """

    def gathered(x: Any) -> Any:
        if x.__class__ is ArrayImpl and not x.is_fully_addressable:
            return _global_value(x, tiled)
        value = np.asarray(device_get(x))
        if process_count() == 1:
            return value if tiled else value[np.newaxis]
        result = _gathered(value)
        return result.reshape(-1, *value.shape[1:]) if tiled and value.ndim else result

    return tree_map(gathered, in_tree)


def assert_equal(in_tree: Any, fail_message: str = "") -> None:
    """Raise AssertionError unless ``in_tree`` is the same in every process.

    A single process's is. Of arrays on devices of several processes types are compared.
    """
    leaves, treedef = tree_flatten(in_tree)
    shown: list[str] = []
    data = [str(treedef).encode()]
    for x in leaves:
        if x.__class__ is ArrayImpl and not x.is_fully_addressable:
            shown.append(f"an array of {x.dtype}{list(x.shape)}")
        else:
            value = np.asarray(device_get(x))
            text = np.array2string(value, threshold=8, edgeitems=2).replace("\n", "")
            shown.append(f"{text} of {value.dtype}{list(value.shape)}")
            data.append(value.tobytes())
    text = ", ".join(shown)
    data.append(text.encode())
    problem = f"assert_equal{here()}: the values differ"
    _same(f"{fail_message}: {problem}" if fail_message else problem, f"has {text:.300}", *data)


def _same(problem: str, what: str, *data: bytes) -> None:
    if global_state.client is not None and process_count() > 1:
        result = compare_text(what, *data)
        if result:
            raise AssertionError(f"{problem}: {result}.")


def reached_preemption_sync_point(step_id: int) -> bool:
    """True if all processes should save their state at this step, because one will be terminated.

    All processes call it at each step. It is False in a process that was not joined to others.

    Raises:
        RuntimeError: the option ``enable_preemption_service`` is off.
    """
    arguments.integer("step_id", step_id)
    manager = global_state.preemption_sync_manager
    if manager is not None:
        return bool(manager.reached_sync_point(step_id))
    if global_state.client is not None:
        raise RuntimeError(
            f"reached_preemption_sync_point{here()}: the option enable_preemption_service is off. "
            "Set it to True before distributed.initialize."
        )
    return False


@cached(bound=4)
def _mesh_of(count: int) -> Mesh:
    """One device of each process."""
    first: dict[int, Any] = {}
    for d in devices():
        first.setdefault(d.process_index, d)
    return Mesh(np.array([first[i] for i in sorted(first)]), ("processes",))


def _mesh() -> Mesh:
    return _mesh_of(process_count())


def _stack(value: np.ndarray[Any, Any]) -> Any:
    """An array of which each process has a row."""
    mesh = _mesh()
    sharding = NamedSharding(mesh, PartitionSpec("processes"))
    shape = (mesh.size, *value.shape)
    return make_array_from_callback(shape, sharding, lambda index: value[np.newaxis])


@cached(bound=16)
def _picker(mesh: Mesh) -> Any:
    def pick_process(x: Any, index: Any) -> Any:
        return x[index]

    return jit(pick_process, out_shardings=NamedSharding(mesh, PartitionSpec()))


def _gathered(value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    copies = NamedSharding(_mesh(), PartitionSpec())
    return np.asarray(device_put(_stack(value), copies))


def _global_value(x: Any, tiled: bool) -> np.ndarray[Any, Any]:
    if not tiled:
        raise ValueError(
            f"process_allgather{here()} of an array on devices of several processes: it is one "
            "array already. Give tiled=True."
        )
    mesh = getattr(x.sharding, "mesh", None)
    if mesh is None:
        mesh = Mesh(np.array(list(x.sharding._internal_device_list)), ("devices",))
    return np.asarray(device_put(x, NamedSharding(mesh, PartitionSpec())))
