"""Devices of a torus (TPUs) in grids whose axes are axes of the torus."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod
from typing import Any

import numpy as np

from dovetail_base.source import here


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
    places = np.array([(*d.coords, getattr(d, "core_on_chip", 0)) for d in devices])
    places -= places.min(axis=0)
    block = np.empty(places.max(axis=0) + 1, object)
    for place, device in zip(places, devices):
        block[tuple(place)] = device
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

    def place(n: int, free: frozenset[int]) -> bool:
        if n == len(order):
            return True
        wanted = shape[order[n]]
        for count in range(len(free) + 1):
            for axes in combinations(sorted(free), count):
                whole = all(sizes[a] > 1 for a in axes)
                if whole and prod(sizes[a] for a in axes) == wanted:
                    result[order[n]] = axes
                    if place(n + 1, free - set(axes)):
                        return True
        return False

    if not place(0, frozenset(range(len(sizes)))):
        return None
    return [result[i] for i in range(len(shape))]
