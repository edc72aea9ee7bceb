"""Structured arrays as values of high types: made of parts, of which some can be trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
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
from dovetail_core import algebra, current_source, describe_source, is_inexact, typeof


def part(rank: int, *, frozen: bool = False) -> Any:
    """A field that is an array of this rank (behind axes that are mapped); ``frozen``: it has no
    derivative. Fields without it are static: hashable, and part of the type."""
    return field(metadata={"rank": rank, "frozen": frozen})


@dataclass(frozen=True)
class PartsType(HiType):
    """The type of values of ``kind`` that are made of arrays with these names and types."""

    kind: type[Structured]
    names: tuple[str, ...]
    avals: tuple[Any, ...]
    static: tuple[Any, ...] = ()

    def lo_ty(self) -> list[Any]:
        return list(self.avals)

    def lower_val(self, value: Any) -> list[Any]:
        return [getattr(value, name) for name in self.names]

    def tangent_type(self) -> TangentType:
        avals = dict(zip(self.names, self.avals))
        kept = [n for n in self.kind.trained if is_inexact(avals[n].dtype)]
        return self.kind.tangents(self.kind, tuple(kept), tuple(avals[n].strong() for n in kept))

    def mapped(self, size: int, spec: Any) -> PartsType:
        return self._with_shapes(spec, lambda s, d: s[:d] + s[d + 1 :], least=1)

    def unmapped(self, size: int, spec: Any) -> PartsType:
        return self._with_shapes(spec, lambda s, d: (*s[:d], size, *s[d:]), least=0)

    def lo_axes(self, spec: Any) -> list[int | None]:
        """A spec is an integer or None for each part, or one for all of them."""
        return list(spec) if isinstance(spec, tuple) else [spec] * len(self.names)

    def _with_shapes(self, spec: Any, change: Any, least: int) -> PartsType:
        avals: list[Any] = []
        for name, aval, d in zip(self.names, self.avals, self.lo_axes(spec)):
            free = len(aval.shape) - self.kind.ranks[name] - least
            if d is not None and not 0 <= d <= free:
                raise ValueError(
                    f"axis {d} of part {name} of {self.str_short()} cannot be mapped"
                    f"{describe_source(current_source())}: the structure needs it. Map axes in "
                    "front of those, or the dense array: dense(x)."
                )
            avals.append(aval if d is None else aval.update(shape=change(aval.shape, d)))
        return type(self)(self.kind, self.names, tuple(avals), self.static)


class StructuredType(PartsType):
    """The type of a structured array."""

    def raise_val(self, *arrays: Any) -> Structured:
        return self.kind(*arrays, *self.static)

    def str_short(self) -> str:
        return f"{self.kind.__name__}:{self.raise_val(*self.avals).array_type.str_short()}"


class TangentType(PartsType):
    """The type of tangents of a structured array, and of cotangents: its trained parts."""

    def raise_val(self, *arrays: Any) -> Tangent:
        return Tangent(self, dict(zip(self.names, arrays)))

    def str_short(self) -> str:
        inner = " ".join(f"{n}:{a.str_short()}" for n, a in zip(self.names, self.avals))
        return f"d{self.kind.__name__}({inner})"


@dataclass(frozen=True, eq=False, repr=False)
class Tangent:
    """A tangent or gradient of a structured array: an array for each part that is not frozen."""

    type: TangentType
    parts: dict[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name in self.type.names:
            return self.parts[name]
        raise AttributeError(f"{self.type.str_short()} has no part {name!r}")

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}={x!r}" for n, x in self.parts.items())
        return f"d{self.type.kind.__name__}({shown})"


register_hitype(Tangent, lambda t: t.type)


class Structured:
    """Base of structured arrays. Subclass it with the decorator :func:`structure`; give it fields,
    ``core`` and ``dense``. Axes in front of the parts' own are those of many such arrays."""

    __array_ufunc__ = None  # NumPy's arrays leave their operators to ours
    parts: ClassVar[tuple[str, ...]]
    trained: ClassVar[tuple[str, ...]]
    ranks: ClassVar[dict[str, int]]
    types: ClassVar[type[StructuredType]]
    tangents: ClassVar[type[TangentType]]

    @property
    def core(self) -> tuple[int, ...]:
        """The shape of one array, from the shapes of the parts."""
        raise NotImplementedError

    def dense(self) -> Any:
        """The array that this stands for."""
        raise NotImplementedError

    @property
    def array_type(self) -> ShapedArray:
        """The type of the array that this stands for: of its first part's element type."""
        found = [typeof_part(getattr(self, name)) for name in self.parts]
        front = [a.shape[: len(a.shape) - r] for a, r in zip(found, self.ranks.values())]
        return ShapedArray((*np.broadcast_shapes(*front), *self.core), found[0].dtype)

    shape = property(lambda self: self.array_type.shape)
    dtype = property(lambda self: self.array_type.dtype)
    ndim = property(lambda self: self.array_type.ndim)


def typeof_part(x: Any) -> ShapedArray:
    """The type of a part, or of what stands for it in a type."""
    return x if isinstance(x, ShapedArray) else typeof(x).strong()  # type: ignore[return-value]


def type_of(x: Structured) -> StructuredType:
    """The high type of a structured array."""
    cls, names = type(x), type(x).parts
    static = tuple(getattr(x, f.name) for f in fields(x) if f.name not in names)  # type: ignore
    return cls.types(cls, names, tuple(typeof_part(getattr(x, n)) for n in names), static)


@dataclass_transform(frozen_default=True, eq_default=False)
def structure(cls: type[Any]) -> Any:
    """Decorator: a subclass of ``Structured``, of which it makes a dataclass and a high type."""
    cls = dataclass(frozen=True, eq=False)(cls)
    found = {f.name: f.metadata for f in fields(cls) if "rank" in f.metadata}
    cls.parts, cls.ranks = tuple(found), {n: m["rank"] for n, m in found.items()}
    cls.trained = tuple(n for n, m in found.items() if not m["frozen"])
    for base, attribute in ((StructuredType, "types"), (TangentType, "tangents")):
        read = {n: aval_property(partial(_part, name=n)) for n in found}
        setattr(cls, attribute, type(f"{cls.__name__}{base.__name__}", (base,), read))
    register_hitype(cls, type_of)
    return cls


class Parts(HiPrimitive):
    """``parts(x)``: the arrays that a structured array, or a tangent of one, is made of."""

    multiple_results = True

    def abstract_eval(self, x: PartsType) -> list[Any]:
        return list(x.avals)

    def to_lo(self, x: Any) -> list[Any]:
        return typeof(x).lower_val(x)  # type: ignore[attr-defined]

    def jvp(self, primals: Any, tangents: Any) -> Any:
        aval: Any = typeof(primals[0])
        known = named_parts(tangents[0])
        outs = [known.get(n, Zero(a.tangent_type())) for n, a in zip(aval.names, aval.avals)]
        return self.bind(*primals), outs

    def transpose(self, cotangent: Any, x: Any) -> Any:
        return [make_p.bind(*map(instantiate_zeros, cotangent), type=x.aval.cotangent_type())]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        return self.bind(*args), typeof(args[0]).lo_axes(dims[0])  # type: ignore[attr-defined]


class Make(HiPrimitive):
    """``make(*parts)``: the structured array, or the tangent, that is made of them."""

    def abstract_eval(self, *avals: Any, type: PartsType) -> PartsType:
        return type

    def to_lo(self, *parts: Any, type: PartsType) -> Any:
        return type.raise_val(*parts)

    def jvp(self, primals: Any, tangents: Any, *, type: PartsType) -> Any:
        change, known = type.tangent_type(), dict(zip(type.names, tangents))
        parts = [instantiate_zeros(known[n]) for n in change.names]
        return self.bind(*primals, type=type), self.bind(*parts, type=change)

    def transpose(self, cotangent: Any, *parts: Any, type: PartsType) -> Any:
        known = named_parts(cotangent)
        return [known.get(n) for n in type.names]

    def batch(self, axis: Any, args: Any, dims: Any, *, type: PartsType) -> Any:
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
    return named_parts(x)[name]


def make(kind: type[Any], *values: Any) -> Any:
    """A structured array from values of the fields of its class, in traced functions, too."""
    x = kind(*values)
    return make_p.bind(*[getattr(x, n) for n in kind.parts], type=type_of(x))


def update(f: Callable[..., Any], x: Any, *others: Any) -> Any:
    """``x`` with ``f(part, *parts of the others)`` for each part that all of them have.

    ``update(lambda p, g: p - 0.1 * g, w, gradient)`` is a step of gradient descent.
    """
    own, rest = named_parts(x), [named_parts(o) for o in others]
    new = {n: f(p, *[r[n] for r in rest]) for n, p in own.items() if all(n in r for r in rest)}
    return make_p.bind(*{**own, **new}.values(), type=typeof(x))
