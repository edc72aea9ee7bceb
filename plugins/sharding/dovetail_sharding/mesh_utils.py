"""Devices in grids in which neighbours are near to each other in the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from dovetail_backends import devices as all_devices
from dovetail_base import arguments
from dovetail_base.source import here

from .axis_types import AxisType
from .meshes import Mesh


def on_torus(
    devices: Sequence[Any], shape: tuple[int, ...], allow_split: bool
) -> np.ndarray[Any, Any]:
    """Devices in an array of this shape, each axis of which is made of whole axes of the torus.

    Raises:
        ValueError: the devices are no block of a torus, or its axes do not make this shape.
    """
    block = torus_of(devices)
    chosen = _assignment(shape, block.shape)
    if chosen is None:
        if allow_split:
            return block.reshape(shape)
        raise ValueError(
            f"create_device_mesh{here()}: the axes of a torus of shape {block.shape} do not make a "
            f"mesh of shape {shape}. Give another shape, or allow_split_physical_axes=True."
        )
    used = [a for axes in chosen for a in axes]
    ones = [a for a in range(block.ndim) if a not in used]  # their size is 1
    return block.transpose([*used, *ones]).reshape(shape)


def torus_of(devices: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Devices by their coordinates and, on the last axis, the core of the chip."""
    coordinates = np.array([(*d.coords, getattr(d, "core_on_chip", 0)) for d in devices])
    coordinates -= coordinates.min(axis=0)
    block = np.empty(coordinates.max(axis=0) + 1, object)
    for assign, device in zip(coordinates, devices):
        block[tuple(assign)] = device
    if block.size != len(devices) or any(d is None for d in block.flat):
        raise ValueError(
            f"create_device_mesh{here()}: the coordinates of the {len(devices)} devices do not "
            f"fill a block of a torus (they span one of shape {block.shape}). Give Mesh an array "
            "of devices."
        )
    return block


def _assignment(shape: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]] | None:
    """For each axis of a mesh the axes of the torus that make it: few, and each used once."""
    order = sorted(range(len(shape)), key=lambda i: -shape[i])
    result: dict[int, tuple[int, ...]] = {}

    def assign(n: int, free: frozenset[int]) -> bool:
        if n == len(order):
            return True
        wanted = shape[order[n]]
        for count in range(len(free) + 1):
            for axes in combinations(sorted(free), count):
                has_extent = all(sizes[a] > 1 for a in axes)
                if has_extent and prod(sizes[a] for a in axes) == wanted:
                    result[order[n]] = axes
                    if assign(n + 1, free - set(axes)):
                        return True
        return False

    if not assign(0, frozenset(range(len(sizes)))):
        return None
    return [result[i] for i in range(len(shape))]


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any] | str,
    axis_types: AxisType | tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """A mesh of this shape.

    Args:
        axis_shapes: the number of devices along each axis.
        axis_names: the names of the axes.
        axis_types: one type for each axis, or one for all; ``Explicit`` by default.
        devices: the devices to use, the first of them if there are more; all by default.

    Raises:
        ValueError: there are too few devices, or not as many names or types as axes.
    """
    shape = _shape("make_mesh", "axis_shapes", axis_shapes)
    given = list(all_devices() if devices is None else devices)
    if len(given) < prod(shape):
        raise ValueError(
            f"make_mesh{here()}: a mesh of shape {shape} has {prod(shape)} devices, and there are "
            f"{len(given)}. On the CPU set the option num_cpu_devices before its first use."
        )
    grid = create_device_mesh(shape, given[: prod(shape)])
    types = AxisType.Explicit if axis_types is None else axis_types
    return Mesh(grid, axis_names, types)


def create_device_mesh(
    mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    contiguous_submeshes: bool = False,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """Devices in an array of this shape, for :class:`Mesh`.

    Devices with coordinates (TPUs) are placed such that each axis of the mesh is made of whole
    axes of the hardware's torus; others are in the order in which they come.

    Args:
        devices: the devices of the grid, each of which is used; all devices by default.
        contiguous_submeshes: each process's devices are a block of the mesh.
        allow_split_physical_axes: an axis of the torus may be divided among several of the mesh.

    Raises:
        ValueError: there are more or fewer devices; the torus has no such axes; the devices of a
            process are no block.
    """
    shape = _shape("create_device_mesh", "mesh_shape", mesh_shape)
    given = list(all_devices() if devices is None else devices)
    if len(given) != prod(shape):
        raise ValueError(
            f"create_device_mesh{here()}: a mesh of shape {shape} has {prod(shape)} devices, and "
            f"{len(given)} are given."
        )
    if getattr(given[0], "coords", None) is not None:
        grid = on_torus(given, shape, allow_split_physical_axes)
    else:
        grid = array_of(given).reshape(shape)
    if contiguous_submeshes:
        _check_blocks(grid)
    return grid


def create_hybrid_device_mesh(
    mesh_shape: Sequence[int],
    dcn_mesh_shape: Sequence[int],
    devices: Sequence[Any] | None = None,
    *,
    process_is_granule: bool = False,
    should_sort_granules_by_key: bool = True,
    allow_split_physical_axes: bool = False,
) -> np.ndarray[Any, Any]:
    """Devices in an array, for meshes over several granules that are connected slowly.

    Args:
        mesh_shape: the shape within a granule.
        dcn_mesh_shape: the number of granules along each axis.
        devices: the devices of the grid, each of which is used; all devices by default.
        process_is_granule: a granule is what one process has, else what has one ``slice_index``.
        should_sort_granules_by_key: granules are in the order of their numbers, else as they come.
        allow_split_physical_axes: see :func:`create_device_mesh`.

    Raises:
        ValueError: there are more or fewer granules; devices have no ``slice_index``.
    """
    name = "create_hybrid_device_mesh"
    inner = _shape(name, "mesh_shape", mesh_shape)
    outer = _shape(name, "dcn_mesh_shape", dcn_mesh_shape)
    if len(inner) != len(outer):
        raise ValueError(
            f"{name}{here()}: mesh_shape {inner} and dcn_mesh_shape {outer} have different lengths."
        )
    attribute = "process_index" if process_is_granule else "slice_index"
    granules: dict[Any, list[Any]] = {}
    for d in all_devices() if devices is None else devices:
        if not hasattr(d, attribute):
            raise ValueError(
                f"{name}{here()}: the device {d} has no {attribute}. With process_is_granule=True "
                "a granule is what one process has."
            )
        granules.setdefault(getattr(d, attribute), []).append(d)
    if len(granules) != prod(outer):
        raise ValueError(
            f"{name}{here()}: dcn_mesh_shape {outer} has {prod(outer)} granules, and the devices "
            f"are in {len(granules)}."
        )
    keys = sorted(granules) if should_sort_granules_by_key else list(granules)
    blocks = np.empty(len(keys), object)
    for i, key in enumerate(keys):
        blocks[i] = create_device_mesh(
            inner, granules[key], allow_split_physical_axes=allow_split_physical_axes
        )
    return np.block(blocks.reshape(outer).tolist())


def array_of(items: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Objects in an array of one dimension."""
    result = np.empty(len(items), object)
    result[:] = items
    return result


def _shape(name: str, argument: str, given: Any) -> tuple[int, ...]:
    shape = tuple(arguments.integers(f"{argument} of {name}", given))
    if any(n < 1 for n in shape):
        raise ValueError(f"{name}{here()}: {argument} is {shape}; sizes of axes are at least 1.")
    return shape


def _check_blocks(grid: np.ndarray[Any, Any]) -> None:
    owners = np.array([d.process_index for d in grid.flat]).reshape(grid.shape)
    for process in np.unique(owners):
        where = np.nonzero(owners == process)
        if prod(len(np.unique(axis)) for axis in where) != len(where[0]):
            raise ValueError(
                f"create_device_mesh{here()}: the devices of process {process} are no block of a "
                f"mesh of shape {grid.shape}. Choose another shape, or contiguous_submeshes=False."
            )
