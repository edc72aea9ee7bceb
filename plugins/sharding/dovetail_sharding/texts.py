"""Meshes and specs in the text of programs."""

from __future__ import annotations

from ast import literal_eval
from typing import Any

import numpy as np

from dovetail_backends import devices as all_devices
from dovetail_text.syntax import register_parameter

from .axis_types import AxisType
from .meshes import AbstractDevice, AbstractMesh, BaseMesh, Mesh
from .named import NamedSharding
from .specs import UNCONSTRAINED, PartitionSpec


def _spec_text(spec: PartitionSpec) -> str:
    partitions = tuple([... if p is UNCONSTRAINED else p for p in spec.partitions])
    roles = [sorted(axes, key=repr) for axes in (spec.unreduced, spec.reduced)]
    return repr((partitions, *roles) if any(roles) else partitions).replace("Ellipsis", "...")


def _spec(text: str) -> PartitionSpec:
    result: Any = literal_eval(text)
    partitions, *roles = result if any(isinstance(x, list) for x in result) else (result,)
    given = [UNCONSTRAINED if p is ... else p for p in partitions]
    return PartitionSpec(*given, **{n: set(r) for n, r in zip(("unreduced", "reduced"), roles)})


def _axes(mesh: BaseMesh) -> list[tuple[Any, int, str]]:
    return [(n, s, t.name) for (n, s), t in zip(mesh.shape_tuple, mesh.axis_types)]


def _from_axes(axes: Any) -> tuple[tuple[int, ...], tuple[Any, ...], tuple[AxisType, ...]]:
    names, sizes, types = zip(*axes) if axes else ((), (), ())
    return sizes, names, tuple([AxisType[t] for t in types])


def _abstract_text(mesh: AbstractMesh) -> str:
    d = mesh.abstract_device
    return repr((_axes(mesh), d and (d.device_kind, d.num_cores, d.platform)))


def _abstract(text: str) -> AbstractMesh:
    axes, device = literal_eval(text)
    kind = AbstractDevice(*device) if device else None
    return AbstractMesh(*_from_axes(axes), abstract_device=kind)


def _mesh_text(mesh: Mesh) -> str:
    platform = mesh._flat_devices_tuple[0].platform if mesh.size else None
    return repr((_axes(mesh), platform, mesh.device_ids.ravel().tolist()))


def _mesh(text: str) -> Mesh:
    axes, platform, ids = literal_eval(text)
    sizes, names, types = _from_axes(axes)
    there = {d.id: d for d in all_devices(platform)}
    grid = np.empty(len(ids), object)
    grid[:] = [there[i] for i in ids]
    return Mesh(grid.reshape(sizes), names, types)


def _sharding_text(sharding: Any) -> str:
    mesh: Any = sharding.mesh
    text = _mesh_text(mesh) if isinstance(mesh, Mesh) else _abstract_text(mesh)
    return f"({_spec_text(sharding.spec)}, {text}, {sharding.memory_kind!r})"


def _sharding(text: str) -> NamedSharding:
    spec, mesh, kind = literal_eval(text)
    made = (_mesh if len(mesh) == 3 else _abstract)(repr(mesh))
    return NamedSharding(made, _spec(repr(spec)), memory_kind=kind)


register_parameter(NamedSharding, _sharding_text, _sharding, name="sharding")
register_parameter(PartitionSpec, _spec_text, _spec, name="P")
register_parameter(AbstractMesh, _abstract_text, _abstract, name="abstract_mesh")
register_parameter(Mesh, _mesh_text, _mesh, name="mesh")
