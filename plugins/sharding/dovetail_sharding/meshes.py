"""Meshes: devices in a grid whose axes have names, and grids without devices."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, wraps
from math import prod
from threading import RLock
from typing import Any, NoReturn, ParamSpec, TypeVar
from weakref import WeakValueDictionary

import numpy as np

from dovetail_base.source import called, here, short_repr
from dovetail_xla.client import Device, device_list
from dovetail_xla.fork import renew_in_child

from . import settings
from .axis_types import AxisType, axis_types_of
from .settings import disallow_mesh_context_manager

AxisName = Hashable
P = ParamSpec("P")
R = TypeVar("R")


class BaseMesh:
    """The base of meshes with devices and without.

    Equal meshes are one object, so that they are compared and hashed by address.

    Attributes:
        axis_names: the names of the axes. axis_sizes: the number of devices along each.
        axis_types: see :class:`AxisType`.
        size: the number of devices.
    """

    axis_names: tuple[Any, ...]
    axis_sizes: tuple[int, ...]
    axis_types: tuple[AxisType, ...]
    size: int

    @cached_property
    def shape_tuple(self) -> tuple[tuple[Any, int], ...]:
        """Pairs of the name and the size of each axis."""
        return tuple(zip(self.axis_names, self.axis_sizes))

    @property
    def shape(self) -> OrderedDict[Any, int]:
        """The size of each axis by its name."""
        return OrderedDict(self.shape_tuple)

    @property
    def empty(self) -> bool:
        """True if it has no devices, as the mesh that is current if none was set."""
        return self.size == 0

    def _of_type(self, wanted: AxisType) -> tuple[Any, ...]:
        return tuple(n for n, t in zip(self.axis_names, self.axis_types) if t is wanted)

    @cached_property
    def auto_axes(self) -> tuple[Any, ...]:
        """The axes of type ``Auto``."""
        return self._of_type(AxisType.Auto)

    @cached_property
    def explicit_axes(self) -> tuple[Any, ...]:
        """The axes of type ``Explicit``."""
        return self._of_type(AxisType.Explicit)

    @cached_property
    def manual_axes(self) -> tuple[Any, ...]:
        """The axes of type ``Manual``."""
        return self._of_type(AxisType.Manual)

    def _all(self, *wanted: AxisType) -> bool:
        return bool(self.axis_types) and all(t in wanted for t in self.axis_types)

    @property
    def are_all_axes_auto(self) -> bool:
        """True if there are axes, all of type ``Auto``."""
        return self._all(AxisType.Auto)

    @property
    def are_all_axes_explicit(self) -> bool:
        """True if there are axes, all of type ``Explicit``."""
        return self._all(AxisType.Explicit)

    @property
    def are_all_axes_manual(self) -> bool:
        """True if there are axes, all of type ``Manual``."""
        return self._all(AxisType.Manual)

    @cached_property
    def _name_to_type(self) -> dict[Any, AxisType]:
        return dict(zip(self.axis_names, self.axis_types))

    def _axes_text(self) -> str:
        sizes = ", ".join(f"{n!r}: {s}" for n, s in self.shape_tuple)
        return f"{sizes or '()'}, axis_types={self.axis_types}"

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        kind = type(self).__name__
        raise AttributeError(f"a {kind} does not change: use mesh.update({name}=...).")

    def __copy__(self) -> Any:
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        return self


_meshes: WeakValueDictionary[Any, Any] = WeakValueDictionary()
_lock = RLock()
renew_in_child(_lock)


def _the_one(cls: type, key: Any, attributes: Mapping[str, Any]) -> Any:
    """The one mesh of a class with this key."""
    with _lock:
        result = _meshes.get((cls, key))
        if result is None:
            result = _meshes[cls, key] = object.__new__(cls)
            result.__dict__.update(attributes)
        return result


@dataclass(frozen=True)
class AbstractDevice:
    """The kind of the devices of an :class:`AbstractMesh`."""

    device_kind: str
    num_cores: int | None
    platform: str

    def __repr__(self) -> str:
        return f"AbstractDevice({self._text()})"

    def _text(self) -> str:
        return (
            f"device_kind={self.device_kind}, num_cores={self.num_cores}, platform={self.platform}"
        )


class AbstractMesh(BaseMesh):
    """A mesh without devices: names, sizes and types of axes.

    Args:
        axis_sizes: how many devices are along each axis.
        axis_names: the names of the axes.
        axis_types: one :class:`AxisType` for each axis, or one for all; ``Auto`` by default.
        abstract_device: of what kind its devices are.

    Raises:
        ValueError: there are not as many names, or types, as sizes; a name comes twice.
    """

    abstract_device: AbstractDevice | None

    def __new__(
        cls,
        axis_sizes: Sequence[int],
        axis_names: Sequence[AxisName] | str,
        axis_types: AxisType | tuple[AxisType, ...] | None = None,
        *,
        abstract_device: AbstractDevice | None = None,
    ) -> AbstractMesh:
        names, sizes = _names(axis_names), tuple(map(int, axis_sizes))
        if len(sizes) != len(names):
            raise ValueError(
                f"AbstractMesh{here()}: axis_sizes {sizes} has {len(sizes)} items and axis_names "
                f"{names} has {len(names)}; give a name for each axis."
            )
        types = axis_types_of(axis_types, names)
        attributes = {
            "axis_names": names, "axis_sizes": sizes, "axis_types": types,
            "size": prod(sizes) if sizes else 0, "abstract_device": abstract_device,
            "_internal_device_list": None,
        }  # fmt: skip
        return _the_one(cls, (names, sizes, types, abstract_device), attributes)

    @property
    def abstract_mesh(self) -> AbstractMesh:
        """Itself."""
        return self

    def update(self, **changes: Any) -> AbstractMesh:
        """With other ``axis_sizes``, ``axis_names``, ``axis_types`` or ``abstract_device``."""
        now = {n: getattr(self, n) for n in ("axis_sizes", "axis_names", "axis_types")}
        return AbstractMesh(**{**now, "abstract_device": self.abstract_device, **changes})

    def update_axis_types(self, name_to_type: Mapping[Any, AxisType]) -> AbstractMesh:
        """With other types for some of the axes."""
        types = (name_to_type.get(n, t) for n, t in zip(self.axis_names, self.axis_types))
        return self.update(axis_types=tuple(types))

    def __getattr__(self, name: str) -> NoReturn:
        if name in ("devices", "device_ids", "is_multi_process", "local_devices", "local_mesh"):
            raise ValueError(
                f"{name} of {self}{here()}: an abstract mesh has no devices. Give a Mesh."
            )
        raise AttributeError(f"an AbstractMesh has no attribute {name!r}")

    def __repr__(self) -> str:
        device = f", {self.abstract_device._text()}" if self.abstract_device else ""  # pyright: ignore
        return f"AbstractMesh({self._axes_text()}{device})"

    def __reduce__(self) -> Any:
        more = {"abstract_device": self.abstract_device}
        return _abstract, (self.axis_sizes, self.axis_names, self.axis_types, more)


def _abstract(sizes: Any, names: Any, types: Any, more: Mapping[str, Any]) -> AbstractMesh:
    return AbstractMesh(sizes, names, types, **more)


class Mesh(BaseMesh):
    """Devices in a grid whose axes have names.

    Args:
        devices: an array of devices, with as many dimensions as there are names.
        axis_names: the names of the axes.
        axis_types: one :class:`AxisType` for each axis, or one for all; ``Auto`` by default.

    Raises:
        ValueError: there are not as many names, or types, as dimensions; a name is None or comes
            twice. TypeError: an item is no device.
    """

    devices: np.ndarray[Any, Any]
    _flat_devices_tuple: tuple[Any, ...]

    def __new__(
        cls,
        devices: Any,
        axis_names: Sequence[AxisName] | str,
        axis_types: AxisType | tuple[AxisType, ...] | None = None,
    ) -> Mesh:
        grid, names = np.array(devices, object), _names(axis_names)
        if grid.ndim != len(names):
            raise ValueError(
                f"Mesh{here()}: the devices have shape {grid.shape} and the axes have the names "
                f"{names}; give a name for each of the {grid.ndim} dimensions."
            )
        types = axis_types_of(axis_types, names)
        flat = tuple(grid.flat)
        if flat == (None,):  # numpy.empty((), object): the mesh where none was set
            flat = ()
        for d in flat:
            if not isinstance(d, Device):
                raise TypeError(
                    f"Mesh{here()}: {short_repr(d)} of type {type(d).__name__} is no device. Give "
                    "for example numpy.array(dovetail.devices()).reshape(4, 2)."
                )
        grid.flags.writeable = False
        attributes = {
            "axis_names": names, "axis_sizes": grid.shape, "axis_types": types,
            "size": len(flat), "devices": grid, "_flat_devices_tuple": flat,
        }  # fmt: skip
        return _the_one(cls, (names, grid.shape, flat, types), attributes)

    @cached_property
    def _internal_device_list(self) -> Any:
        return device_list(self._flat_devices_tuple)

    @cached_property
    def device_ids(self) -> np.ndarray[Any, Any]:
        """The numbers of the devices."""
        ids = [d.id for d in self._flat_devices_tuple]
        return np.array(ids).reshape(self.axis_sizes if ids else 0)

    @cached_property
    def local_devices(self) -> list[Any]:
        """The devices of this process."""
        return [d for d in self._flat_devices_tuple if d.process_index == d.client.process_index()]

    @property
    def is_multi_process(self) -> bool:
        """True if it has devices of other processes."""
        return len(self.local_devices) != self.size

    @property
    def is_scalar(self) -> bool:
        """True if it is one device without axes."""
        return self.size == 1 and not self.axis_names

    @cached_property
    def local_mesh(self) -> Mesh:
        """The part of the mesh whose devices are of this process.

        Raises:
            ValueError: they are no block of the mesh.
        """
        if not self.is_multi_process:
            return self
        own = np.isin(self.device_ids, [d.id for d in self.local_devices])
        block = self.devices[np.ix_(*(np.unique(where) for where in np.nonzero(own)))]
        if block.size != own.sum():
            raise ValueError(
                f"the devices of this process{here()} are no block of the mesh {self}: order its "
                "devices so that each process has one (mesh_utils.create_hybrid_device_mesh)."
            )
        return Mesh(block, self.axis_names, self.axis_types)

    @cached_property
    def abstract_mesh(self) -> AbstractMesh:
        """The mesh without its devices."""
        kind = None
        if self.size:
            first = self._flat_devices_tuple[0]
            cores = getattr(first, "num_cores", None)
            kind = AbstractDevice(first.device_kind, cores, first.platform)
        return AbstractMesh(self.axis_sizes, self.axis_names, self.axis_types, abstract_device=kind)

    def update(self, **changes: Any) -> Mesh:
        """With other ``devices``, ``axis_names`` or ``axis_types``."""
        now = {n: getattr(self, n) for n in ("devices", "axis_names", "axis_types")}
        return Mesh(**{**now, **changes})

    def __enter__(self) -> Mesh:
        if disallow_mesh_context_manager.value:
            raise RuntimeError(
                f"`with mesh:`{here()} is an error, because the option "
                "disallow_mesh_context_manager is on. Use `with dovetail.set_mesh(mesh):`."
            )
        warnings.warn(
            "`with mesh:` is deprecated. Use `with dovetail.set_mesh(mesh):` instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        settings.resources.set_local((*settings.resources.value, self))
        return self

    def __exit__(self, *error: Any) -> None:
        settings.resources.set_local(settings.resources.value[:-1])

    def __call__(self, f: Callable[P, R]) -> Callable[P, R]:
        """``f``, each of whose calls is within ``with mesh:``."""

        @wraps(f)
        def within(*args: P.args, **kwargs: P.kwargs) -> R:
            with self:
                return f(*args, **kwargs)

        return within

    def __repr__(self) -> str:
        types = f", axis_types={self.axis_types}" if self.size else ""
        return f"Mesh(axis_sizes={self.axis_sizes}, axis_names={self.axis_names}{types})"

    def __str__(self) -> str:
        return f"Mesh({self._axes_text()})" if self.size else "Mesh()"

    def __reduce__(self) -> Any:
        return Mesh, (self.devices, self.axis_names, self.axis_types)


def _names(given: Any) -> tuple[Any, ...]:
    names = (given,) if isinstance(given, str) else tuple(given)
    if None in names or len(set(names)) != len(names):
        raise ValueError(
            f"axis_names is {names}{called()}: give each axis a name of its own, not None."
        )
    return names


def only_like(mesh: BaseMesh) -> Mesh | None:
    """The existing mesh with devices and these axes, if all such meshes have the same devices."""
    with _lock:
        known = [m for m in list(_meshes.values()) if isinstance(m, Mesh)]
    alike = [m for m in known if m.shape_tuple == mesh.shape_tuple]
    device_tuples = {m._flat_devices_tuple for m in alike}
    return alike[0] if len(device_tuples) == 1 else None


EMPTY = Mesh(np.empty((), object), ())
"""The mesh where none was set."""
EMPTY_ABSTRACT = AbstractMesh((), ())
