"""Programs on several devices: the shardings of their arguments and results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_xla.client import Device
from dovetail_xla.shardings import HloSharding

from .attributes import Attribute


class Grid(Protocol):
    """Devices in a grid with named axes, along which a program is divided.

    The attribute ``_grid`` of a sharding is its grid; equal grids are one object.
    ``has_explicit_axes`` is True if types have shardings along its axes.
    """

    has_explicit_axes: bool

    def spelled(self, sharding: Any, ndim: int) -> str | None:
        """A sharding of arrays of ``ndim`` dimensions as an attribute of Shardy; None if it is not
        one along axes of this grid."""
        ...

    def on_summands(
        self, b: Any, types: Sequence[Any], operands: Sequence[Any], emit: Callable[..., Any]
    ) -> Any:
        """``emit(b, *operands)``, run by each device on its summands, if types of operands
        (``types``) and results (``b.outs``) have pending sums over devices; else None."""
        ...

    def sharding_of(self, parts: HloSharding, ndim: int) -> Any:
        """The sharding by which XLA divides arrays of ``ndim`` dimensions."""
        ...


class Parts(Protocol):
    """A manual region of a program: the axes along which each device runs it on its own parts."""

    def has(self, axes: Sequence[Any]) -> bool:
        """True if the region is manual along these axes."""
        ...

    def has_all(self) -> bool:
        """True if the region is manual along all axes, so that XLA divides nothing in it."""
        ...

    def groups(self, axes: Sequence[Any]) -> list[list[int]]:
        """The partitions that differ along these axes only, the last of which varies fastest."""
        ...

    def index(self, b: Any, axis: Any) -> Any:
        """Emits a device's position along an axis: an int32 scalar."""
        ...

    def on_first(self, b: Any, operands: Sequence[Any], emit: Callable[..., Any]) -> None:
        """``emit(b, *operands)`` for its effect, on the first of the devices that differ along
        axes which are not manual."""
        ...


class AbsentDevice(NamedTuple):
    """A device of an abstract mesh: its number."""

    id: int


class AbsentDevices:
    """The devices of an abstract mesh: programs for them can be lowered, and not compiled."""

    __slots__ = ("count",)

    def __init__(self, count: int) -> None:
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __iter__(self) -> Iterator[AbsentDevice]:
        return map(AbsentDevice, range(self.count))

    def __eq__(self, other: object) -> bool:
        return other.__class__ is AbsentDevices and len(other) == self.count  # type: ignore[arg-type]

    def __hash__(self) -> int:
        return hash(self.count)


class Partition(NamedTuple):
    """The devices of a program that runs on several, and the shardings that its caller gives.

    Attributes:
        devices: a ``DeviceList``, in the order of the program's partitions, or
            :class:`AbsentDevices`.
        grid: the grid along whose axes shardings are written.
        ins: the sharding of each input, or None if XLA chooses it.
        outs: the same of each result.
        alike: groups of results, by position, that get equal shardings.
    """

    devices: Any
    grid: Grid
    ins: tuple[Any, ...]
    outs: tuple[Any, ...]
    alike: tuple[tuple[int, ...], ...] = ()

    @property
    def ids(self) -> list[int]:
        """The numbers of the devices."""
        return [d.id for d in self.devices]

    def attribute(self, sharding: Any, ndim: int) -> Attribute | None:
        """``sharding`` of a value as an attribute; None if it cannot be written as one."""
        text = None if sharding is None else self.grid.spelled(sharding, ndim)
        return None if text is None else Attribute(text)


def first_device(target: Any) -> Device:
    """The device of a program, or the first one of its partition, which may be an
    :class:`AbsentDevice`."""
    return next(iter(target.devices)) if target.__class__ is Partition else target


def on_first_device_only(results: int) -> Attribute:
    """The sharding of an operation that runs for its effect on the first device only."""
    one = "<mesh<[], device_ids=[0]>, []>"
    return Attribute(f"#sdy.sharding_per_value<[{', '.join([one] * max(results, 1))}]>")


def shardings_of(parts: Sequence[HloSharding] | None, count: int) -> list[HloSharding]:
    """The compiler's shardings of ``count`` values; replicated ones if it has none."""
    return list(parts) if parts is not None else [HloSharding.replicate()] * count
