"""Meshes as grids along which XLA divides programs: shardings in Shardy's words, and back."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence, Set
from math import prod
from typing import Any

import numpy as np

from dovetail_backends import string
from dovetail_core import cached
from dovetail_xla.shardings import GSPMDSharding, HloSharding, install

from .meshes import BaseMesh
from .named import NamedSharding as NamedSharding
from .specs import UNCONSTRAINED, PartitionSpec, axes_of


def words_of(mesh: BaseMesh) -> dict[Any, str]:
    """The names of the axes in programs: their own if these are nonempty strings."""
    plain = all(isinstance(n, str) and n for n in mesh.axis_names)
    names: Sequence[str] = (
        mesh.axis_names if plain else [f"axis{i}" for i in range(len(mesh.axis_names))]
    )
    return {n: string(text) for n, text in zip(mesh.axis_names, names)}


def sharding_text(
    mesh: Any, partitions: Sequence[Any], ndim: int, axes: Sequence[Any],
    unreduced: Collection[Any] = (),
) -> str:  # fmt: skip
    """The sharding of a value along manual axes: its dimensions are open if other axes are left to
    the compiler."""
    words = words_of(mesh)
    is_open = bool(axes) and len(axes) < len(mesh.axis_names)
    dims: list[str] = []
    for p in [*partitions, *[None] * ndim][:ndim]:
        dims.append(f"{{{', '.join([*(words[a] for a in axes_of(p)), *(['?'] * is_open)])}}}")
    sizes = ", ".join(f"{words[n]}={size}" for n, size in mesh.shape_tuple)
    left = ", ".join(words[a] for a in mesh.axis_names if a in unreduced)
    sums = f", unreduced={{{left}}}" if left else ""
    return f"<mesh<[{sizes}]>, [{', '.join(dims)}]{sums}>"


def attributes_of(ins: Sequence[str], outs: Sequence[str], mesh: Any, axes: Sequence[Any]) -> str:
    """The attributes of a manual computation along ``axes``."""
    words = words_of(mesh)
    names = ", ".join(words[a] for a in mesh.axis_names if a in axes)
    return (
        f"in_shardings = #sdy.sharding_per_value<[{', '.join(ins)}]>, "
        f"manual_axes = #sdy<manual_axes{{{names}}}>, "
        f"out_shardings = #sdy.sharding_per_value<[{', '.join(outs)}]>"
    )


def on_summands(
    mesh: Any, axes: Set[Any], b: Any, types: Sequence[Any], operands: Sequence[Any],
    emit: Callable[..., list[Any]],
) -> list[Any]:  # fmt: skip
    """``emit(b, *operands)`` as a manual computation along ``axes``: that of a linear operation on
    operands of which some are sums along them, and whose results are such sums.

    Told of the results alone, Shardy takes what an operation of several steps makes in between as
    the sum, which each device has, and ends the process where it does not know the operation.
    """
    outs = b.outs

    def body(b: Any, *xs: Any) -> list[Any]:
        b.outs = tuple([a.without_sharding() for a in outs])
        return emit(b, *xs)

    divides, b.module.divides = b.module.divides, False
    try:
        region = b.region([a.without_sharding() for a in types], body, "sdy.return", True)
    finally:
        b.module.divides = divides
    own = [a for a in mesh.axis_names if a in axes]
    ins, results = ([_summands_text(mesh, a, own) for a in avals] for avals in (types, outs))
    attributes = attributes_of(ins, results, mesh, own)
    return b.op("sdy.manual_computation", operands, list(outs), attributes, [region])


def _summands_text(mesh: Any, aval: Any, own: Sequence[Any]) -> str:
    """The sharding of a value of a type along some axes: unreduced, or replicated."""
    spec = PartitionSpec() if aval.divided is None else aval.divided.spec
    return sharding_text(mesh, (), aval.ndim, own, [a for a in spec.unreduced if a in own])


class MeshGrid:
    """The devices of a mesh along whose axes a program is divided (``Grid`` of ``backends``)."""

    __slots__ = ("mesh",)

    def __init__(self, mesh: BaseMesh) -> None:
        self.mesh = mesh

    def __reduce__(self) -> Any:
        return grid_of, (self.mesh,)

    @property
    def has_explicit_axes(self) -> bool:
        """True if types have shardings along some of its axes."""
        return bool(self.mesh.explicit_axes)

    def of_type(self, aval: Any) -> NamedSharding | None:
        """The sharding of values of a type; None if some axes are left to the compiler."""
        mesh: Any = self.mesh
        if aval.divided is not None:
            return NamedSharding(mesh, aval.divided.spec)
        if not mesh.are_all_axes_explicit:
            return None
        return NamedSharding(mesh, PartitionSpec(*[None] * getattr(aval, "ndim", 0)))

    def spelled(self, sharding: Any, ndim: int) -> str | None:
        """A sharding of arrays of ``ndim`` dimensions in Shardy's text; None if it is not one along
        axes of this mesh."""
        if isinstance(sharding, NamedSharding):
            other: Any = sharding.mesh
            if other is self.mesh or other.shape_tuple == self.mesh.shape_tuple:
                return _text(self.mesh, sharding.spec, ndim)
            if not sharding._is_concrete:  # type: ignore[attr-defined]
                return None
        if len(sharding._internal_device_list) != self.mesh.size:
            return None
        parts = sharding._to_xla_hlo_sharding(ndim)  # type: ignore[attr-defined]
        spec = spec_of(self.mesh, parts, ndim)
        if spec is None and sharding.__class__ is GSPMDSharding and parts.is_tiled():
            return _tiled(parts, ndim)
        return None if spec is None else _text(self.mesh, spec, ndim)

    def on_summands(self, b: Any, types: Any, operands: Sequence[Any], emit: Any) -> Any:
        """See ``dovetail_backends.pjrt.partition.Grid``."""
        axes = summed(b.outs) & summed(types)
        return on_summands(self.mesh, axes, b, types, operands, emit) if axes else None

    def sharding_of(self, parts: HloSharding, ndim: int) -> Any:
        """The sharding by which XLA divides arrays of ``ndim`` dimensions."""
        spec = spec_of(self.mesh, parts, ndim)
        if spec is not None:
            return NamedSharding(self.mesh, spec)
        return GSPMDSharding(self.mesh._internal_device_list, parts)  # type: ignore[attr-defined]


def summed(avals: Sequence[Any]) -> frozenset[Any]:
    """The axes along which values of these types are unreduced."""
    has_explicit_axes = [a.divided for a in avals if a.divided is not None]
    return frozenset([a for d in has_explicit_axes for a in d.spec.unreduced])


@cached
def spec_of(mesh: BaseMesh, parts: HloSharding, ndim: int) -> PartitionSpec | None:
    """The spec of an XLA sharding on a mesh; None if it divides along parts of axes."""
    if parts.is_replicated():
        return PartitionSpec()
    if not parts.is_tiled():
        return None
    tiles = list(parts.tile_assignment_dimensions())
    order = np.asarray(parts.tile_assignment_devices()).reshape(tiles)
    partitions: list[Any] = []
    for dim in range(ndim):
        # Which tile along this dimension each device of the mesh holds.
        held = np.empty(mesh.size, np.int64)
        number = np.broadcast_to(
            np.arange(tiles[dim]).reshape(-1, *[1] * (len(tiles) - dim - 1)), tiles
        )
        held[order.ravel()] = number.ravel()
        axes = _axes(mesh, held.reshape(mesh.axis_sizes), tiles[dim])
        if axes is None:
            return None
        partitions.append(axes)
    while partitions and not partitions[-1]:
        partitions.pop()
    return PartitionSpec(*partitions)


def _axes(mesh: BaseMesh, held: np.ndarray[Any, Any], count: int) -> tuple[Any, ...] | None:
    """The axes, the slowest first, along which tiles are numbered as in ``held``; None if there are
    none."""
    steps: dict[int, int] = {}
    for axis, size in enumerate(mesh.axis_sizes):
        second = tuple(1 if a == axis else 0 for a in range(held.ndim)) if size > 1 else None
        if second is not None and held[second]:
            steps[axis] = int(held[second])
    order = sorted(steps, key=lambda a: -steps[a])
    if prod(mesh.axis_sizes[a] for a in order) != count:
        return None
    wanted: Any = 0
    for axis in order:
        along = np.arange(mesh.axis_sizes[axis])
        shape = [-1 if a == axis else 1 for a in range(held.ndim)]
        wanted = wanted * mesh.axis_sizes[axis] + along.reshape(shape)
    if not np.array_equal(held, np.broadcast_to(wanted, held.shape)):
        return None
    return tuple(mesh.axis_names[a] for a in order)


@cached
def _text(mesh: BaseMesh, spec: PartitionSpec, ndim: int) -> str:
    words = words_of(mesh)
    given = [*spec.partitions, *[None] * ndim][:ndim]
    dims = ", ".join(
        "{?}" if p is UNCONSTRAINED else f"{{{', '.join(words[a] for a in axes_of(p))}}}"
        for p in given
    )
    axes = ", ".join(f"{words[n]}={size}" for n, size in mesh.shape_tuple)
    roles = ""
    if spec.unreduced:
        left = [words[n] for n in mesh.axis_names if n in spec.unreduced]
        roles = f", unreduced={{{', '.join(left)}}}"
    return f"#sdy.sharding<mesh<[{axes}]>, [{dims}]{roles}>"


def _tiled(parts: HloSharding, ndim: int) -> str:
    """Any sharding by tiles, along axes of a mesh of its own with the same order of devices."""
    sizes = list(parts.tile_assignment_dimensions())
    axes = ", ".join(f'"tile{i}"={n}' for i, n in enumerate(sizes))
    ids = ", ".join(map(str, parts.tile_assignment_devices()))
    dims = ", ".join(f'{{"tile{i}"}}' for i in range(ndim))
    return f"#sdy.sharding<mesh<[{axes}], device_ids=[{ids}]>, [{dims}]>"


@cached(bound=1024)
def grid_of(mesh: BaseMesh) -> MeshGrid:
    """The grid of a mesh: one object."""
    return MeshGrid(mesh)


def _with_dimension(self: Any, at: int, axes: tuple[Any, ...] | None = None) -> NamedSharding:
    """The sharding of arrays with one more dimension, divided along ``axes`` or by the compiler."""
    free: Any = axes or (UNCONSTRAINED if self.mesh.auto_axes else None)
    given = list(self.spec.partitions)
    given += [None] * (at - len(given))
    spec = self.spec.update(partitions=(*given[:at], free, *given[at:]))
    return NamedSharding(self.mesh, spec, memory_kind=self.memory_kind)


def _settled(self: Any, x: Any) -> NamedSharding:
    """The sharding with unconstrained dimensions replaced: by those of the sharding of ``x`` if it
    is on the same mesh, else by undivided ones."""
    spec: PartitionSpec = self.spec
    if UNCONSTRAINED not in spec.partitions:
        return self
    own: Any = getattr(x, "sharding", None)
    now = own.spec.partitions if getattr(own, "mesh", None) is self.mesh else ()
    taken = {a for p in spec.partitions for a in axes_of(p)}
    result: list[Any] = []
    for i, p in enumerate(spec.partitions):
        if p is UNCONSTRAINED:
            p = now[i] if i < len(now) and not taken & set(axes_of(now[i])) else None
        result.append(p)
    return NamedSharding(self.mesh, spec.update(partitions=result), memory_kind=self.memory_kind)


install(NamedSharding, "_settled", _settled)
install(NamedSharding, "_grid", property(lambda self: grid_of(self.mesh)))
install(NamedSharding, "_with_dimension", _with_dimension)
