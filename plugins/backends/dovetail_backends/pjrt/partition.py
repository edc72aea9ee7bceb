"""Programs on several devices: where their arguments and results are, and how that is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from dovetail_xla.client import Device
from dovetail_xla.shardings import HloSharding

from .attributes import Attribute


class Grid(Protocol):
    """Devices in a grid with named axes, along which a program is divided.

    The attribute ``_grid`` of a sharding is its grid; equal grids are one object. ``told`` says
    whether types tell how values are divided along its axes.
    """

    told: bool

    def spelled(self, sharding: Any, ndim: int) -> str | None:
        """A sharding of arrays of ``ndim`` dimensions as an attribute of Shardy's.

        None where it is not one along axes of this grid.
        """
        ...

    def on_summands(
        self, b: Any, types: Sequence[Any], operands: Sequence[Any], emit: Callable[..., Any]
    ) -> Any:
        """``emit(b, *operands)``, run by each device on its summands, where ``types``, those of the
        operands, and ``b.outs`` are of sums over devices that are left to be done; elsewhere
        None."""
        ...

    def sharding_of(self, parts: HloSharding, ndim: int) -> Any:
        """The sharding by which XLA divides arrays of ``ndim`` dimensions."""
        ...


class Parts(Protocol):
    """What runs on every device by itself, each on its part of values: who each device is."""

    def has(self, axes: Sequence[Any]) -> bool:
        """Whether the devices are told apart along these axes."""
        ...

    def has_all(self) -> bool:
        """Whether the devices are told apart along all axes: each runs what is written."""
        ...

    def groups(self, axes: Sequence[Any]) -> list[list[int]]:
        """The partitions that differ along these axes only, the last of which varies fastest."""
        ...

    def index(self, b: Any, axis: Any) -> Any:
        """Emits a device's position along an axis: an int32 scalar."""
        ...

    def on_first(self, b: Any, operands: Sequence[Any], emit: Callable[..., Any]) -> None:
        """``emit(b, *operands)`` for its effect, which of the devices that are not told apart the
        first one alone has."""
        ...


class AbsentDevice(NamedTuple):
    """One of the devices of a mesh that has none: its number."""

    id: int


class AbsentDevices:
    """The devices of a mesh that has none, by their number: programs for them can be lowered."""

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
    """Where a program on several devices runs, and what its caller says of shardings.

    Attributes:
        devices: a ``DeviceList``, in the order of the program's partitions, or
            :class:`AbsentDevices`.
        grid: in whose terms shardings are written.
        ins: the sharding of each input, or None where XLA is to choose it.
        outs: the same of each result.
        alike: positions of results that XLA is to divide in one way, group by group.
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
        """What says that a value has ``sharding``; None where nothing does."""
        text = None if sharding is None else self.grid.spelled(sharding, ndim)
        return None if text is None else Attribute(text)


def first_device(place: Any) -> Device:
    """The device of a program, or the first of its devices; an :class:`AbsentDevice` of those that
    are not there."""
    return next(iter(place.devices)) if place.__class__ is Partition else place


def on_the_first(results: int) -> Attribute:
    """What says that an operation happens once, on the first device: for its effect."""
    one = "<mesh<[], device_ids=[0]>, []>"
    return Attribute(f"#sdy.sharding_per_value<[{', '.join([one] * max(results, 1))}]>")


def shardings_of(parts: Sequence[HloSharding] | None, count: int) -> list[HloSharding]:
    """What the compiler says of ``count`` values; nothing is divided on one device."""
    return list(parts) if parts is not None else [HloSharding.replicate()] * count
