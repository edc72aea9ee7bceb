"""Devices in grids."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import dovetail as dt
from dovetail.experimental.mesh_utils import create_device_mesh, create_hybrid_device_mesh
from dovetail.sharding import AxisType
from dovetail_sharding.mesh_utils import torus_of


def torus(x, y, z=1, cores=1):
    """Devices of a TPU, as far as meshes ask."""
    result = []
    for i in range(x * y * z * cores):
        cx, cy, cz, core = np.unravel_index(i, (x, y, z, cores))
        result.append(
            SimpleNamespace(
                id=i,
                coords=(int(cx), int(cy), int(cz)),
                core_on_chip=int(core),
                process_index=int(cx) // 2,
            )
        )
    return result


def ids(grid):
    return np.array([d.id for d in grid.flat]).reshape(grid.shape)


def test_make_mesh(devices):
    mesh = dt.make_mesh((4, 2), ("x", "y"), devices=devices)
    assert mesh.devices.ravel().tolist() == devices and mesh.are_all_axes_explicit
    first = dt.make_mesh((3,), "x", (AxisType.Auto,), devices=devices[::-1])
    assert first.local_devices == devices[:-4:-1] and first.are_all_axes_auto
    assert dt.make_mesh((1,), "x").local_devices == dt.devices()[:1]
    with pytest.raises(ValueError, match="has 16 devices, and there are 8"):
        dt.make_mesh((16,), ("x",), devices=devices)
    with pytest.raises(ValueError, match="sizes of axes are at least 1"):
        dt.make_mesh((-1, 2), ("x", "y"), devices=devices)


def test_in_the_order_given(devices):
    assert ids(create_device_mesh((2, 4), devices)).tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    with pytest.raises(ValueError, match="has 12 devices, and 8 are given"):
        create_device_mesh((4, 3), devices)


def test_on_a_torus():
    chips = torus(4, 2, 2)
    assert torus_of(chips[::-1]).shape == (4, 2, 2, 1)
    grid = ids(create_device_mesh((4, 4), chips))
    assert sorted(grid.ravel()) == list(range(16))
    assert all(len({i // 4 for i in row}) in (1, 4) for row in grid)
    flat = ids(create_device_mesh((2, 8), chips[::-1]))
    assert flat.shape == (2, 8) and sorted(flat.ravel()) == list(range(16))
    assert ids(create_device_mesh((8, 1), torus(2, 2, cores=2))).ravel().tolist() == list(range(8))
    with pytest.raises(ValueError, match=r"a torus of shape \(4, 4, 1, 1\) do not make"):
        create_device_mesh((2, 8), torus(4, 4))
    split = create_device_mesh((2, 8), torus(4, 4), allow_split_physical_axes=True)
    assert sorted(ids(split).ravel()) == list(range(16))
    with pytest.raises(ValueError, match="do not fill a block of a torus"):
        create_device_mesh((3,), torus(2, 2)[:3])


def test_contiguous():
    chips = torus(4, 2)  # two processes, two rows of the torus each
    assert ids(create_device_mesh((4, 2), chips, contiguous_submeshes=True)).tolist() == [
        [0, 1], [2, 3], [4, 5], [6, 7],
    ]  # fmt: skip
    apart = [chips[i] for i in (0, 4, 1, 5, 2, 6, 3, 7)]
    for d in apart:
        d.coords = None
    with pytest.raises(ValueError, match="the devices of process 0 are no block"):
        create_device_mesh(
            (2, 4), [apart[i] for i in (0, 2, 4, 1, 6, 3, 5, 7)], contiguous_submeshes=True
        )


def test_hybrid(devices):
    whole = create_hybrid_device_mesh((4, 2), (1, 1), devices, process_is_granule=True)
    assert ids(whole).ravel().tolist() == list(range(8))
    slices = [SimpleNamespace(id=i, slice_index=1 - i // 4) for i in range(8)]
    assert ids(create_hybrid_device_mesh((2, 2), (2, 1), slices)).tolist() == [
        [4, 5], [6, 7], [0, 1], [2, 3],
    ]  # fmt: skip
    as_given = create_hybrid_device_mesh((2, 2), (1, 2), slices, should_sort_granules_by_key=False)
    assert ids(as_given).tolist() == [[0, 1, 4, 5], [2, 3, 6, 7]]
    with pytest.raises(ValueError, match=r"has no slice_index\. With process_is_granule=True"):
        create_hybrid_device_mesh((2, 2), (2, 1), devices)
    with pytest.raises(ValueError, match="has 4 granules, and the devices are in 2"):
        create_hybrid_device_mesh((2, 1), (4, 1), slices)
    with pytest.raises(ValueError, match="different lengths"):
        create_hybrid_device_mesh((2, 2), (2,), slices)
