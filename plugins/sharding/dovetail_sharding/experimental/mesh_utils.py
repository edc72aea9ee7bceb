"""Devices in grids, by JAX's names."""

from __future__ import annotations

from ..mesh_utils import (
    create_device_mesh as create_device_mesh,
    create_hybrid_device_mesh as create_hybrid_device_mesh,
)

__all__ = ["create_device_mesh", "create_hybrid_device_mesh"]
