"""``PartitionSpec``: the axes of a mesh along which each dimension of an array is divided."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from threading import RLock
from typing import Any, ClassVar, NoReturn, final
from weakref import WeakValueDictionary

from dovetail_base.source import short_repr
from dovetail_xla.fork import renew_in_child


@final
class Unconstrained:
    """The value ``PartitionSpec.UNCONSTRAINED``: the compiler divides this dimension."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNCONSTRAINED"

    def __reduce__(self) -> str:
        return "UNCONSTRAINED"


UNCONSTRAINED = Unconstrained()
Axes = frozenset[Hashable]
_interned: WeakValueDictionary[tuple[Any, ...], PartitionSpec] = WeakValueDictionary()
_interning = RLock()
renew_in_child(_interning)


@final
class PartitionSpec:
    """The axes of a mesh along which each dimension of an array is divided.

    ``P("x", None, ("y", "z"))`` divides the first dimension along the axis ``x``, not the second,
    and the third along ``y`` and ``z``; dimensions beyond these are whole. Equal ones are one
    object, which is a leaf of pytrees.

    Args:
        partitions: for each dimension the name of an axis, a tuple of names, None, or
            ``P.UNCONSTRAINED`` where the compiler may choose.
        unreduced: axes along which the devices hold summands of the array.
        reduced: axes along which cotangents of the array are such summands.

    Raises:
        TypeError: ``unreduced`` or ``reduced`` is no set, or a name is not hashable.
        ValueError: an axis has several of these roles.
    """

    __slots__ = ("partitions", "unreduced", "reduced", "__weakref__")
    partitions: tuple[Any, ...]
    unreduced: Axes
    reduced: Axes
    UNCONSTRAINED: ClassVar[Unconstrained] = UNCONSTRAINED

    def __new__(
        cls,
        *partitions: Any,
        unreduced: Axes | set[Hashable] = frozenset(),
        reduced: Axes | set[Hashable] = frozenset(),
    ) -> PartitionSpec:
        given = tuple(map(_partition, partitions))
        key = given, _axes("unreduced", unreduced), _axes("reduced", reduced)
        try:
            result = _interned.get(key)
        except TypeError:
            raise TypeError(
                f"PartitionSpec{short_repr(partitions)}: names of axes must be hashable."
            ) from None
        return _intern(key) if result is None else result

    def __init_subclass__(cls, **options: Any) -> NoReturn:
        raise TypeError("PartitionSpec cannot be subclassed: equal ones are one object.")

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise AttributeError(f"a PartitionSpec does not change: use spec.update({name}=...).")

    @property
    def _partitions(self) -> tuple[Any, ...]:
        return self.partitions

    def update(self, **changes: Any) -> PartitionSpec:
        """With other ``partitions``, ``unreduced`` or ``reduced``."""
        now = {"unreduced": self.unreduced, "reduced": self.reduced}
        partitions = changes.pop("partitions", self.partitions)
        return PartitionSpec(*partitions, **{**now, **changes})

    def index(self, value: Any) -> int:
        """The first dimension with this partition; ValueError if there is none."""
        return self.partitions.index(_partition(value))

    def count(self, value: Any) -> int:
        """The number of dimensions with this partition."""
        return self.partitions.count(_partition(value))

    def __getitem__(self, i: Any) -> Any:
        return self.partitions[i]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.partitions)

    def __len__(self) -> int:
        return len(self.partitions)

    def __add__(self, other: Any) -> PartitionSpec:
        if isinstance(other, PartitionSpec):
            return PartitionSpec(
                *self.partitions,
                *other.partitions,
                unreduced=self.unreduced | other.unreduced,
                reduced=self.reduced | other.reduced,
            )
        if type(other) is not tuple:
            return NotImplemented
        return self.update(partitions=self.partitions + other)

    def __radd__(self, other: Any) -> PartitionSpec:
        if type(other) is not tuple:
            return NotImplemented
        return self.update(partitions=other + self.partitions)

    def __repr__(self) -> str:
        roles = {"unreduced": self.unreduced, "reduced": self.reduced}
        named = [f"{k}={{{', '.join(sorted(map(repr, v)))}}}" for k, v in roles.items() if v]
        if not named:
            return f"P{self.partitions!r}"
        return f"P({', '.join([*map(repr, self.partitions), *named])})"

    def __reduce__(self) -> Any:
        return _again, (self.partitions, self.unreduced, self.reduced)

    def __copy__(self) -> PartitionSpec:
        return self

    def __deepcopy__(self, memo: Any) -> PartitionSpec:
        return self


def _again(partitions: tuple[Any, ...], unreduced: Axes, reduced: Axes) -> PartitionSpec:
    return PartitionSpec(*partitions, unreduced=unreduced, reduced=reduced)


def _partition(given: Any) -> Any:
    """The normal form of a partition."""
    if not isinstance(given, (list, tuple)):
        return given
    axes = tuple(given)
    for axis in axes:
        if isinstance(axis, (list, tuple)):
            raise ValueError(
                f"PartitionSpec: the partition {given!r} contains {axis!r}. A dimension is divided "
                "along axes that are named one by one: give for example ('x', 'y')."
            )
    return axes if len(axes) > 1 else axes[0] if axes else None


def _axes(name: str, given: Any) -> Axes:
    if not isinstance(given, (set, frozenset)):
        raise TypeError(
            f"{name} of a PartitionSpec is a set of names of axes, got {short_repr(given)} of type "
            f"{type(given).__name__}: give for example {{'x'}}."
        )
    if None in given:
        raise ValueError(f"{name} of a PartitionSpec contains None: give names of axes.")
    return frozenset(given)


def _intern(key: tuple[Any, Axes, Axes]) -> PartitionSpec:
    partitions, unreduced, reduced = key
    divided = {a for p in partitions for a in axes_of(p)}
    roles = {"partitions": divided, "unreduced": unreduced, "reduced": reduced}
    pairs = (("partitions", "unreduced"), ("partitions", "reduced"), ("unreduced", "reduced"))
    for one, other in pairs:
        if both := roles[one] & roles[other]:
            raise ValueError(
                f"PartitionSpec: {sorted(map(str, both))} is in {one} and in {other}. An axis of "
                "a mesh has one role."
            )
    with _interning:
        result = _interned.get(key)
        if result is None:
            result = object.__new__(PartitionSpec)
            for name, value in zip(PartitionSpec.__slots__, key):
                object.__setattr__(result, name, value)
            _interned[key] = result
        return result


def axes_of(partition: Any) -> tuple[Any, ...]:
    """The axes along which a dimension is divided, the slowest first."""
    if partition is None or partition is UNCONSTRAINED:
        return ()
    return partition if type(partition) is tuple else (partition,)


def without_single(mesh: Any, spec: PartitionSpec) -> PartitionSpec:
    """A spec without axes of the mesh along which there is one device."""
    single = {n for n, size in zip(mesh.axis_names, mesh.axis_sizes) if size == 1}
    named = {a for p in spec.partitions for a in axes_of(p)} | spec.unreduced | spec.reduced
    if not single & named:
        return spec
    left = [
        p if p is UNCONSTRAINED else tuple([a for a in axes_of(p) if a not in single]) or None
        for p in spec.partitions
    ]
    return PartitionSpec(*left, unreduced=spec.unreduced - single, reduced=spec.reduced - single)


P = PartitionSpec
