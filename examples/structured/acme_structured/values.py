"""Structured arrays as values of high types, made of parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, dataclass_transform

import numpy as np

from dovetail.hijax import (
    HiPrimitive,
    HiType,
    ShapedArray,
    Zero,
    aval_property,
    instantiate_zeros,
    register_hitype,
)
from dovetail_core import (
    algebra,
    current_source,
    describe_source,
    hide_frames,
    is_inexact,
    typeof,
)

hide_frames("acme_structured")  # a mistake is in the line that uses this package


@dataclass(frozen=True)
class StructuredType(HiType):
    """The type of structured arrays of one kind, and of their tangents.

    ``avals`` are the parts' types (None in a tangent for a part that has no derivative), ``static``
    the fields that are not parts. A spec is an integer or None for each part, or one for all.
    """

    kind: type[Structured]
    avals: tuple[Any, ...]
    static: tuple[Any, ...]

    @property
    def names(self) -> list[str]:
        """The names of the parts that there are."""
        return [n for n, a in zip(self.kind.ranks, self.avals) if a is not None]

    def lo_ty(self) -> list[Any]:
        return [a for a in self.avals if a is not None]

    def lower_val(self, value: Any) -> list[Any]:
        return [getattr(value, n) for n in self.names]

    def raise_val(self, *arrays: Any) -> Any:
        rest = iter(arrays)
        return self.kind(*[a and next(rest) for a in self.avals], *self.static)

    def tangent_type(self) -> StructuredType:
        frozen = self.kind.frozen
        return self._each(lambda n, a: a if n not in frozen and is_inexact(a.dtype) else None)

    def mapped(self, size: int, spec: Any) -> StructuredType:
        return self._along(spec, 1, lambda shape, d: shape[:d] + shape[d + 1 :])

    def unmapped(self, size: int, spec: Any) -> StructuredType:
        return self._along(spec, 0, lambda shape, d: (*shape[:d], size, *shape[d:]))

    def str_short(self) -> str:
        parts = [f"{n}:{a.str_short()}" for n, a in zip(self.names, self.lo_ty())]
        return f"{self.kind.__name__}({' '.join([*parts, *map(str, self.static)])})"

    @property
    def is_stacked(self) -> bool:
        """Whether all parts have an axis in front of their own."""
        return all(a.ndim > self.kind.ranks[n] for n, a in zip(self.names, self.lo_ty()))

    def _each(self, change: Callable[[str, Any], Any]) -> StructuredType:
        pairs = zip(self.kind.ranks, self.avals)
        return replace(self, avals=tuple(a and change(n, a) for n, a in pairs))

    def _along(self, spec: Any, own: int, change: Callable[..., Any]) -> StructuredType:
        per_part = spec if isinstance(spec, tuple) else [spec] * len(self.names)
        axes = dict(zip(self.names, per_part))

        def changed(name: str, aval: Any) -> Any:
            d = axes[name]
            if d is not None and not 0 <= d <= aval.ndim - self.kind.ranks[name] - own:
                raise ValueError(
                    f"axis {d} of part {name} of {self.str_short()} cannot be mapped"
                    f"{describe_source(current_source())}: the structure needs it. Map axes in "
                    "front of those, or the dense array: dense(x)."
                )
            return aval if d is None else aval.update(shape=change(aval.shape, d))

        return self._each(changed)


class Structured:
    """Base of structured arrays. Decorate a subclass with :func:`structure`, and give it fields,
    ``core`` and ``dense``. Axes in front of the parts' own are those of many such arrays."""

    __array_ufunc__ = None  # NumPy's arrays leave their operators to ours
    ranks: ClassVar[dict[str, int]]
    frozen: ClassVar[frozenset[str]]
    static: ClassVar[tuple[str, ...]]
    type: ClassVar[type[StructuredType]]
    shape = property(lambda self: self.array_type.shape)
    dtype = property(lambda self: self.array_type.dtype)
    ndim = property(lambda self: self.array_type.ndim)

    @property
    def core(self) -> tuple[int, ...]:
        """The shape of one array, from those of the parts."""
        raise NotImplementedError

    def dense(self) -> Any:
        """The array that this stands for."""
        raise NotImplementedError

    @property
    def array_type(self) -> ShapedArray:
        """The type of the array that this stands for; its elements are like the first part's."""
        parts = [(getattr(self, n), rank) for n, rank in self.ranks.items()]
        front = [x.shape[: len(x.shape) - rank] for x, rank in parts]
        return ShapedArray(np.broadcast_shapes(*front) + self.core, parts[0][0].dtype)


def part(rank: int, *, frozen: bool = False) -> Any:
    """A field that is an array of this rank; it has no derivative if it is ``frozen``. Other fields
    are static: hashable, and part of the type."""
    return field(metadata={"rank": rank, "frozen": frozen})


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(part,))
def structure(cls: type[Any]) -> Any:
    """Decorator: a subclass of ``Structured``, of which it makes a dataclass and a high type."""
    cls = dataclass(frozen=True, eq=False)(cls)
    cls.ranks = {f.name: f.metadata["rank"] for f in fields(cls) if f.metadata}
    cls.frozen = frozenset(f.name for f in fields(cls) if f.metadata.get("frozen"))
    cls.static = tuple(f.name for f in fields(cls) if not f.metadata)
    read = {n: aval_property(partial(_part, name=n)) for n in cls.ranks}  # of traced values
    cls.type = type(f"{cls.__name__}Type", (StructuredType,), read)
    register_hitype(cls, type_of)
    return cls


def type_of(x: Any) -> StructuredType:
    """The high type of a structured array or of a tangent of one."""
    values = [getattr(x, n) for n in x.ranks]
    avals: Any = tuple(None if v is None else typeof(v).strong() for v in values)
    return x.type(type(x), avals, tuple(getattr(x, n) for n in x.static))


class Parts(HiPrimitive):
    """``parts(x)``: the arrays that a structured array, or a tangent of one, is made of."""

    multiple_results = True

    def abstract_eval(self, x: StructuredType) -> list[Any]:
        return x.lo_ty()

    def to_lo(self, x: Any) -> list[Any]:
        return type_of(x).lower_val(x)

    def jvp(self, primals: Any, tangents: Any) -> Any:
        aval: Any = typeof(primals[0])
        known = named_parts(tangents[0])
        outs = [known.get(n, Zero(a.tangent_type())) for n, a in zip(aval.names, aval.lo_ty())]
        return self.bind(*primals), outs

    def transpose(self, cotangent: Any, x: Any) -> Any:
        return [make_p.bind(*map(instantiate_zeros, cotangent), type=x.aval.cotangent_type())]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        return self.bind(*args), typeof(args[0]).lo_axes(dims[0])  # type: ignore[attr-defined]


class Make(HiPrimitive):
    """``make(*parts)``: the structured array, or the tangent, that is made of them."""

    def abstract_eval(self, *avals: Any, type: StructuredType) -> StructuredType:
        return type

    def to_lo(self, *parts: Any, type: StructuredType) -> Any:
        return type.raise_val(*parts)

    def jvp(self, primals: Any, tangents: Any, *, type: StructuredType) -> Any:
        change, known = type.tangent_type(), dict(zip(type.names, tangents))
        parts = [instantiate_zeros(known[n]) for n in change.names]
        return self.bind(*primals, type=type), self.bind(*parts, type=change)

    def transpose(self, cotangent: Any, *parts: Any, type: StructuredType) -> Any:
        known = named_parts(cotangent)
        return [known.get(n) for n in type.names]

    def batch(self, axis: Any, args: Any, dims: Any, *, type: StructuredType) -> Any:
        front = [
            algebra().broadcast(x, axis.size, 0) if d is None else algebra().move_axis(x, d, 0)
            for x, d in zip(args, dims)
        ]
        return self.bind(*front, type=type.unmapped(axis.size, 0)), 0


parts_p, make_p = Parts("structured.parts"), Make("structured.make")


def named_parts(x: Any) -> dict[str, Any]:
    """The parts of a structured array or a tangent by name."""
    aval: Any = typeof(x)
    return dict(zip(aval.names, parts_p.bind(x)))


def _part(x: Any, name: str) -> Any:
    return named_parts(x).get(name)


def make(x: Any) -> Any:
    """An instance of a structured array's class as a value, in traced functions, too."""
    return make_p.bind(*type_of(x).lower_val(x), type=type_of(x))
