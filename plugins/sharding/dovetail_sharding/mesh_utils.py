"""Devices in grids such that neighbours in the grid are near to each other in the hardware."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from dovetail_backends import devices as all_devices
from dovetail_base import arguments
from dovetail_base.source import here

from .axis_types import AxisType
from .meshes import Mesh
from .torus import on_torus


def make_mesh(
    axis_shapes: Sequence[int],
    axis_names: Sequence[Any] | str,
    axis_types: AxisType | tuple[AxisType, ...] | None = None,
    *,
    devices: Sequence[Any] | None = None,
) -> Mesh:
    """A mesh of this shape.

    Args:
        axis_shapes: how many devices are along each axis.
        axis_names: the names of the axes.
        axis_types: one type for each axis, or one for all; ``Explicit`` by default.
        devices: which ones, the first of them where there are more; all by default.

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
        devices: all of them must find a place; all devices by default.
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
        dcn_mesh_shape: how many granules there are along each axis.
        devices: all of them must find a place; all devices by default.
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
