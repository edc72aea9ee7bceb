"""Where arrays of the training run are: on one device, or divided among those of a mesh."""

from __future__ import annotations

from typing import Any

import dovetail
from dovetail import NamedSharding, P
from dovetail.sharding import AxisType


class OneDevice:
    """Everything is on the default device."""

    shardings: dict[str, Any] = {}

    def batch(self, x: Any) -> Any:
        """Rows of data as the training step takes them."""
        return x

    def same(self, tree: Any) -> Any:
        """What every device has the whole of."""
        return tree

    def rows(self, count: int) -> list[tuple[str, int, int]]:
        """For each device its name, its process, and the rows of a batch that it has."""
        return []


class OnMesh(OneDevice):
    """Batches are divided along the axis ``data``; every device has all parameters.

    Args:
        text: ``"data=4"``.

    Raises:
        SystemExit: there are not as many devices.
    """

    def __init__(self, text: str) -> None:
        size = text.partition("=")[2]
        if dovetail.device_count() != int(size):
            raise SystemExit(f"--mesh {text} with {dovetail.device_count()} devices")
        self.mesh = dovetail.make_mesh((int(size),), ("data",), axis_types=(AxisType.Auto,))
        self.split: Any = NamedSharding(self.mesh, P("data"))
        self.whole: Any = NamedSharding(self.mesh, P())
        self.shardings = {"out_shardings": self.whole}

    def batch(self, x: Any) -> Any:
        return dovetail.make_array_from_callback(x.shape, self.split, lambda index: x[index])

    def same(self, tree: Any) -> Any:
        return dovetail.device_put(tree, self.whole)

    def rows(self, count: int) -> list[tuple[str, int, int]]:
        found: list[tuple[str, int, int]] = []
        for device, index in self.split.devices_indices_map((count,)).items():
            start, stop, _ = index[0].indices(count)
            name = f"{device.platform}:{device.id}, process {device.process_index}"
            found.append((name, start, stop))
        return found
