"""Meshes, with devices and without."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict

import numpy as np
import pytest

from dovetail.sharding import AbstractDevice, AbstractMesh, AxisType, Mesh

Auto, Explicit, Manual = AxisType


def test_what_a_mesh_is(mesh, explicit, devices):
    assert mesh.shape == OrderedDict(x=4, y=2) and mesh.shape_tuple == (("x", 4), ("y", 2))
    assert mesh.axis_names == ("x", "y") and mesh.axis_sizes == (4, 2) and mesh.size == 8
    assert mesh.axis_types == mesh.abstract_mesh.axis_types == (Auto, Auto)
    assert mesh.devices.tolist() == np.array(devices).reshape(4, 2).tolist()
    assert mesh.local_devices == devices and mesh.device_ids.tolist() == [
        [0, 1],
        [2, 3],
        [4, 5],
        [6, 7],
    ]
    assert not mesh.empty and not mesh.is_multi_process and not mesh.is_scalar
    assert mesh.local_mesh is mesh
    assert mesh.auto_axes == ("x", "y") and mesh.are_all_axes_auto and not mesh.explicit_axes
    assert explicit.explicit_axes == ("x", "y") and explicit.are_all_axes_explicit
    assert Mesh(devices[0], ()).is_scalar
    with pytest.raises(ValueError, match="read-only"):
        mesh.devices[0, 0] = None


def test_equal_meshes_are_one_object(mesh, explicit, devices):
    again = Mesh(np.array(devices).reshape(4, 2), ["x", "y"], (Auto, Auto))
    assert again is mesh and copy.deepcopy(mesh) is mesh and mesh != explicit
    assert mesh.update(axis_types=Explicit) is explicit
    assert mesh.update(axis_names=("a", "b")).shape == OrderedDict(a=4, b=2)
    assert Mesh(devices, "x").axis_names == ("x",)
    with pytest.raises(AttributeError, match=r"use mesh.update\(axis_names=...\)"):
        mesh.axis_names = ("a", "b")


def test_how_meshes_are_shown(mesh):
    types = "axis_types=(Auto, Auto)"
    assert repr(mesh) == f"Mesh(axis_sizes=(4, 2), axis_names=('x', 'y'), {types})"
    assert str(mesh) == f"Mesh('x': 4, 'y': 2, {types})"
    text = f"AbstractMesh('x': 4, 'y': 2, {types}"
    kind = "device_kind=cpu, num_cores=None, platform=cpu"
    assert repr(mesh.abstract_mesh) == f"{text}, {kind})"
    assert repr(AbstractMesh((4, 2), ("x", "y"))) == f"{text})"
    assert repr(mesh.abstract_mesh.abstract_device) == f"AbstractDevice({kind})"
    assert repr(Mesh(np.empty((), object), ())) == "Mesh(axis_sizes=(), axis_names=())"
    assert repr(AbstractMesh((), ())) == "AbstractMesh((), axis_types=())"
    assert repr(list(AxisType)) == "[Auto, Explicit, Manual]" and str(Auto) == "AxisType.Auto"


def test_abstract_meshes(mesh):
    abstract = AbstractMesh((4, 2), ("x", "y"))
    assert abstract is AbstractMesh((4, 2), ("x", "y"), axis_types=Auto)
    assert abstract is pickle.loads(pickle.dumps(abstract)) is abstract.abstract_mesh
    assert abstract.size == 8 and not abstract.empty and AbstractMesh((), ()).empty
    assert abstract != mesh.abstract_mesh
    device = AbstractDevice("cpu", None, "cpu")
    assert abstract.update(abstract_device=device) is mesh.abstract_mesh
    assert abstract.update_axis_types({"x": Manual}).manual_axes == ("x",)
    assert abstract.update(axis_types=Manual).are_all_axes_manual
    with pytest.raises(ValueError, match=r"devices of AbstractMesh.* has no devices"):
        abstract.devices  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'colour'"):
        abstract.colour  # noqa: B018


def test_bad_meshes(devices):
    grid = np.array(devices).reshape(4, 2)
    with pytest.raises(ValueError, match=r"shape \(4, 2\) and the axes have the names \('x',\)"):
        Mesh(grid, ("x",))
    for names in (("x", "x"), ("x", None)):
        with pytest.raises(ValueError, match="a name of its own, not None"):
            Mesh(grid, names)
    with pytest.raises(TypeError, match="1 of type int is no device"):
        Mesh([1, 2], "x")
    with pytest.raises(ValueError, match=r"has 1 items and axis_names .* has 2"):
        Mesh(grid, ("x", "y"), (Auto,))
    with pytest.raises(TypeError, match="an item of type str"):
        Mesh(grid, ("x", "y"), ("Auto", "Auto"))
    with pytest.raises(ValueError, match=r"axis_sizes \(4, 2\) has 2 items"):
        AbstractMesh((4, 2), ("x",))
