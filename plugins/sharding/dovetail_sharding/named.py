"""``NamedSharding``: a mesh and a spec, as a sharding of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any

from dovetail_backends import devices_indices_map
from dovetail_base.source import here, short_repr
from dovetail_core import cached
from dovetail_xla import shardings
from dovetail_xla.shardings import (
    HloSharding,
    NamedSharding as NamedSharding,
    OpSharding,
    Sharding as Sharding,
    SingleDeviceSharding as SingleDeviceSharding,
    single_device_sharding,
)

from .axis_types import AxisType
from .meshes import BaseMesh, Mesh
from .specs import UNCONSTRAINED, PartitionSpec, axes_of

__all__ = ["NamedSharding"]


def check_spec(mesh: Any, spec: Any) -> None:
    """Raise unless ``spec`` can be one of arrays on ``mesh``.

    Raises:
        TypeError: the mesh is no mesh, or the spec no PartitionSpec.
        ValueError: the spec names an axis that the mesh lacks, or one twice; it leaves something
            to the compiler, or has unreduced axes, where the types of the axes do not allow it.
    """
    if not isinstance(mesh, BaseMesh) or not isinstance(spec, PartitionSpec):
        wrong = f"mesh {short_repr(mesh)}" if isinstance(spec, PartitionSpec) else f"spec {spec!r}"
        raise TypeError(
            f"NamedSharding{here()} takes a Mesh (or AbstractMesh) and a PartitionSpec, got the "
            f"{wrong}. Give for example NamedSharding(mesh, P('x'))."
        )
    used = [a for p in spec for a in axes_of(p)]
    for axis in (*used, *spec.unreduced, *spec.reduced):
        if axis not in mesh.axis_names:
            raise ValueError(
                f"NamedSharding{here()}: {spec} names the axis {axis!r}, and the mesh has the axes "
                f"{mesh.axis_names}."
            )
    for axis in used:
        if used.count(axis) > 1:
            raise ValueError(
                f"NamedSharding{here()}: {spec} names the axis {axis!r} twice; at most one "
                "dimension of an array can be divided along it."
            )
    _check_types(mesh, spec)


def _check_types(mesh: BaseMesh, spec: PartitionSpec) -> None:
    types = dict(zip(mesh.axis_names, mesh.axis_types))
    for axis in spec.unreduced | spec.reduced:
        if types[axis] is not AxisType.Explicit:
            raise ValueError(
                f"NamedSharding{here()}: {spec} says that the axis {axis!r} is unreduced or "
                f"reduced, which only axes of type Explicit can be; the mesh is {mesh!s}."
            )
    if UNCONSTRAINED in spec.partitions and not mesh.auto_axes:
        raise ValueError(
            f"NamedSharding{here()}: {spec} leaves a dimension to the compiler, and no axis of the "
            f"mesh {mesh!s} is of type Auto."
        )


def tiles(mesh: BaseMesh, spec: PartitionSpec, ndim: int) -> list[int]:
    """The number of parts of each dimension."""
    result = [prod(mesh.shape[a] for a in axes_of(p)) for p in spec.partitions[:ndim]]
    return result + [1] * (ndim - len(result))


@cached
def _hlo_sharding(mesh: BaseMesh, spec: PartitionSpec, ndim: int) -> HloSharding:
    parts = tiles(mesh, spec, ndim)
    if all(n == 1 for n in parts):
        return HloSharding.replicate()
    names = mesh.axis_names
    used = [names.index(a) for p in spec.partitions[:ndim] for a in axes_of(p)]
    rest = [i for i in range(len(names)) if i not in used]
    copies = prod(mesh.axis_sizes[i] for i in rest)
    dims = [*parts, copies] if copies > 1 else parts
    kinds = [OpSharding.Type.REPLICATED] if copies > 1 else []
    return HloSharding.iota_tile(
        dims, reshape_dims=list(mesh.axis_sizes), transpose_perm=[*used, *rest],
        subgroup_types=kinds,
    )  # fmt: skip


def _to_xla(self: Any, ndim: int) -> HloSharding:
    return _hlo_sharding(self.mesh, self.spec, ndim)


def _concrete(what: str, attribute: Any) -> Any:
    """An attribute of shardings that an abstract mesh has no devices for."""

    def get(self: Any, *args: Any) -> Any:
        if not self._is_concrete:
            raise ValueError(
                f"{what} of {self!r}{here()}: an abstract mesh has no devices. Make the sharding "
                "with a Mesh."
            )
        if isinstance(attribute, property):
            assert attribute.fget is not None
            return attribute.fget(self)
        return attribute(self, *args)

    get.__name__, get.__doc__ = what, attribute.__doc__
    return property(get) if isinstance(attribute, property) else get


def _shard_shape(self: Any, global_shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of each part of an array of ``global_shape``."""
    return _part_shape(self, tuple(global_shape))


@cached
def _part_shape(sharding: Any, shape: tuple[int, ...]) -> tuple[int, ...]:
    _check_rank(sharding, shape)
    if UNCONSTRAINED in sharding.spec.partitions:
        raise ValueError(
            f"{sharding.spec} leaves dimension {sharding.spec.partitions.index(UNCONSTRAINED)} to "
            f"the compiler{here()}, which only lax.with_sharding_constraint in a traced function "
            "can. Say how that is divided, or None for not at all."
        )
    parts = tiles(sharding.mesh, sharding.spec, len(shape))
    for axis, (n, k) in enumerate(zip(shape, parts)):
        if n % k:
            raise ValueError(
                f"dimension {axis} of shape {shape} has size {n}, which {k} shards "
                f"do not divide{here()}: the sharding is {sharding!r}."
            )
    return tuple(n // k for n, k in zip(shape, parts))


def _check_rank(self: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError unless arrays of this shape have all dimensions that the spec has."""
    if len(shape) < len(self.spec):
        raise ValueError(
            f"{self.spec} is for arrays of at least {len(self.spec)} dimensions, and the array has "
            f"shape {tuple(shape)}{here()}: the sharding is {self!r}."
        )


def _indices(self: Any, global_shape: tuple[int, ...]) -> Mapping[Any, Any]:
    """The part of an array of ``global_shape`` that each device holds, as slices."""
    _shard_shape(self, global_shape)
    return devices_indices_map(self, global_shape)


def _own_indices(self: Any, global_shape: tuple[int, ...]) -> Mapping[Any, Any]:
    """:meth:`devices_indices_map` of this process's devices."""
    own = set(self._internal_device_list.addressable_device_list)
    return {d: i for d, i in _indices(self, global_shape).items() if d in own}


def _is_replicated(self: Any) -> bool:
    """True if every device holds the whole array."""
    parts = tiles(self.mesh, self.spec, len(self.spec))
    return not self.spec.unreduced and all(n == 1 for n in parts)


def _replicated_axes(self: Any) -> frozenset[Any]:
    used = {a for p in self.spec for a in axes_of(p)}
    return frozenset(self.mesh.axis_names) - used - self.spec.unreduced


def _is_equivalent_to(self: Any, other: Any, ndim: int) -> bool:
    """True if both put every part of an array of ``ndim`` dimensions on the same device."""
    if self == other:
        return True
    if not (self._is_concrete and other._is_concrete):
        same_mesh = getattr(other, "mesh", None) is self.mesh
        return same_mesh and self._to_xla_hlo_sharding(ndim) == other._to_xla_hlo_sharding(ndim)
    return (
        self._internal_device_list == other._internal_device_list
        and self.memory_kind == other.memory_kind
        and self.spec.unreduced == getattr(getattr(other, "spec", None), "unreduced", frozenset())
        and self._to_xla_hlo_sharding(ndim) == other._to_xla_hlo_sharding(ndim)
    )


def _update(self: Any, **changes: Any) -> NamedSharding:
    """With another ``mesh``, ``spec`` or ``memory_kind``."""
    now = {"mesh": self.mesh, "spec": self.spec, "memory_kind": self.memory_kind}
    return NamedSharding(**{**now, **changes})


def _with_memory_kind(self: Any, kind: str) -> NamedSharding:
    """The same parts on the same devices in another kind of memory."""
    return NamedSharding(self.mesh, self.spec, memory_kind=kind)


def _repr(self: Any) -> str:
    kind = "" if self.memory_kind is None else f", memory_kind={self.memory_kind}"
    mesh = str(self.mesh) if isinstance(self.mesh, Mesh) else repr(self.mesh)
    return f"NamedSharding(mesh={mesh}, spec={self.spec}{kind})"


def _reduce(self: Any) -> Any:
    return NamedSharding, (self.mesh, self.spec, self.memory_kind)


_ATTRIBUTES: dict[str, Any] = {
    "_is_concrete": property(lambda self: isinstance(self.mesh, Mesh)),
    "_to_xla_hlo_sharding": _to_xla,
    "num_devices": property(lambda self: self.mesh.size),
    "is_fully_replicated": property(_is_replicated),
    "replicated_axes": property(_replicated_axes),
    "shard_shape": _shard_shape,
    "check_compatible_aval": _check_rank,
    "devices_indices_map": _concrete("devices_indices_map", _indices),
    "addressable_devices_indices_map": _concrete("addressable_devices_indices_map", _own_indices),
    "is_equivalent_to": _is_equivalent_to,
    "update": _update,
    "with_memory_kind": _with_memory_kind,
    "__repr__": _repr,
    "__reduce__": _reduce,
    "__deepcopy__": lambda self, memo: self,
}
_OF_DEVICES = (
    "device_set", "addressable_devices", "has_addressable_devices", "is_fully_addressable",
    "_device_assignment", "_addressable_device_assignment",
)  # fmt: skip
for _name in _OF_DEVICES:
    _ATTRIBUTES[_name] = _concrete(_name, vars(NamedSharding)[_name])
for _name, _attribute in _ATTRIBUTES.items():
    shardings.install(NamedSharding, _name, _attribute)
shardings.check_specs(check_spec)


def make_single_device_sharding(
    device: Any, *, memory_kind: str | None = None
) -> SingleDeviceSharding:
    """The sharding of arrays on one device.

    Raises:
        ValueError: the device has no such memory; names those that it has.
    """
    return single_device_sharding(device, memory_kind)
