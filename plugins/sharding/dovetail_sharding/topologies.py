"""Devices that programs can be compiled for, there or not, by JAX's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import devices as all_devices
from dovetail_base.source import here
from dovetail_xla.client import compile_only_devices

from .mesh_utils import create_device_mesh
from .meshes import Mesh


class TopologyDescription:
    """Some devices, in order.

    Attributes:
        devices: a list of them.
    """

    def __init__(self, devices: list[Any]) -> None:
        self.devices = devices


def get_attached_topology(platform: str | None = None) -> TopologyDescription:
    """The devices that there are.

    Raises:
        RuntimeError: there is no such platform.
    """
    return TopologyDescription(list(all_devices(platform)))


def get_topology_desc(
    topology_name: str = "", platform: str | None = None, **kwargs: Any
) -> TopologyDescription:
    """The devices of a topology, which need not be there: programs for them can be compiled.

    Args:
        topology_name: what the platform calls it, ``"v5e:2x2"`` for a TPU.
        platform: ``"tpu"``, or one whose PJRT plugin is installed.
        kwargs: options of the platform: ``target_config`` and ``topology`` for GPUs.

    Raises:
        NotImplementedError: the platform has no topologies (the CPU), or is not installed.
    """
    name = platform or all_devices()[0].platform
    try:
        return TopologyDescription(compile_only_devices(name, topology_name, kwargs))
    except LookupError:
        raise NotImplementedError(
            f"get_topology_desc{here()}: there are no topologies of the platform {name!r}. They "
            "are those of TPUs, and of platforms whose PJRT plugin is installed."
        ) from None


def make_mesh(
    topo: TopologyDescription,
    mesh_shape: Sequence[int],
    axis_names: tuple[str, ...],
    *,
    contiguous_submeshes: bool = False,
) -> Mesh:
    """A mesh of a topology's devices (see ``mesh_utils.create_device_mesh``).

    Raises:
        ValueError: there are more or fewer devices.
    """
    grid = create_device_mesh(
        mesh_shape, list(topo.devices), contiguous_submeshes=contiguous_submeshes
    )
    return Mesh(grid, axis_names)


__all__ = ["TopologyDescription", "get_attached_topology", "get_topology_desc", "make_mesh"]
