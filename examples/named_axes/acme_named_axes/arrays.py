"""An array whose axes have names, as a high type; giving names, and taking them off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

import dovetail.numpy as dnp
from dovetail.hijax import HiPrimitive, HiType, aval_property, register_hitype
from dovetail_core import (
    algebra,
    current_source,
    describe_source,
    float0,
    hide_frames,
    typeof,
)

hide_frames("acme_named_axes")  # a mistake is in the line that uses this package

Names = tuple[str | None, ...]


class AxisError(TypeError, ValueError):
    """Axes that are missing, of other lengths, or given twice; the message names them."""


def refuse(what: str, remedy: str) -> NoReturn:
    """Raise the error for ``what``, with the user's line."""
    raise AxisError(f"{what}{describe_source(current_source())}. {remedy}")


@dataclass(frozen=True)
class NamedType(HiType):
    """The type of arrays of type ``aval`` with named axes.

    A spec is the name of an axis, or an integer for one that has no name: such axes are made where
    values are stacked by position (by ``lax.scan``; by ``vmap`` where ``out_axes`` is an integer).
    """

    aval: Any
    names: Names

    def lo_ty(self) -> list[Any]:
        return [self.aval]

    def lower_val(self, value: Named) -> list[Any]:
        return [value.array]

    def raise_val(self, *arrays: Any) -> Named:
        return Named(arrays[0], self.names)

    def tangent_type(self) -> Any:
        tangent = self.aval.tangent_type()
        return tangent if tangent.dtype == float0 else NamedType(tangent, self.names)

    def mapped(self, size: int, spec: Any) -> NamedType:
        i = self.position(spec)
        if isinstance(spec, int) and self.names[i] is not None:
            refuse(
                f"axis {self.names[i]!r} of {self.str_short()} is mapped by its position {spec}",
                f"Name it: vmap(f, in_axes=({self.names[i]!r},)), or scan(f, init, xs, "
                f"{self.names[i]!r}).",
            )
        shape, names = self.aval.shape, self.names
        return NamedType(
            self.aval.update(shape=shape[:i] + shape[i + 1 :]), names[:i] + names[i + 1 :]
        )

    def unmapped(self, size: int, spec: Any) -> NamedType:
        front = next((i for i, n in enumerate(self.names) if n is not None), len(self.names))
        i, name = (spec, None) if isinstance(spec, int) else (front, spec)
        if name in self.names and name is not None:
            refuse(f"{self.str_short()} has an axis {name!r} already", "Take another name.")
        shape, names = self.aval.shape, self.names
        return NamedType(
            self.aval.update(shape=(*shape[:i], size, *shape[i:])), (*names[:i], name, *names[i:])
        )

    def lo_axes(self, spec: Any) -> list[int | None]:
        return [self.position(spec)]

    def position(self, spec: Any) -> int:
        """Where the axis of this name (or, an integer, place) is."""
        n = len(self.names)
        if isinstance(spec, int) and -n <= spec < n:
            return spec % n
        if isinstance(spec, int) or spec not in self.names:
            refuse(f"there is no axis {spec!r} in {self.str_short()}", f"It has {self.spelt()}.")
        return self.names.index(spec)

    def spelt(self) -> str:
        """The names in words."""
        return ", ".join(map(repr, self.names)) or "no axes"

    def str_short(self) -> str:
        axes = zip(self.names, self.aval.shape)
        inner = " ".join(f"{'_' if n is None else n}:{d}" for n, d in axes)
        return f"{self.aval.str_short().partition('[')[0]}[{inner}]"

    axis_names = aval_property(lambda x: typeof(x).names)  # type: ignore[attr-defined]
    sizes = aval_property(lambda x: dict(zip(x.axis_names, typeof(x).aval.shape)))  # type: ignore


@dataclass(frozen=True, eq=False, repr=False)
class Named:
    """An array with named axes, outside of traced programs; made by :func:`named`."""

    __array_ufunc__ = None  # NumPy's arrays leave their operators to ours
    array: Any
    names: Names

    axis_names = property(lambda self: self.names)
    sizes = property(lambda self: dict(zip(self.names, self.array.shape)))

    def __repr__(self) -> str:
        return f"{typeof(self).str_short()} {self.array}"


register_hitype(Named, lambda x: NamedType(typeof(x.array).strong(), x.names))


class Attach(HiPrimitive):
    """``attach(array)``: with names."""

    def abstract_eval(self, x: Any, *, names: Names) -> NamedType:
        return NamedType(x.strong(), names)

    def to_lo(self, x: Any, *, names: Names) -> Named:
        return Named(x, names)

    def jvp(self, primals: Any, tangents: Any, *, names: Names) -> Any:
        return self.bind(*primals, names=names), self.bind(*tangents, names=names)

    def transpose(self, cotangent: Any, x: Any, *, names: Names) -> Any:
        return [detach_p.bind(cotangent)]

    def batch(self, axis: Any, args: Any, dims: Any, *, names: Names) -> Any:
        return self.bind(algebra().move_axis(args[0], dims[0], 0), names=(None, *names)), 0


class Detach(HiPrimitive):
    """``detach(x)``: the array, its axes in order."""

    def abstract_eval(self, x: NamedType) -> Any:
        return x.aval

    def to_lo(self, x: Named) -> Any:
        return x.array

    def jvp(self, primals: Any, tangents: Any) -> Any:
        return self.bind(*primals), self.bind(*tangents)

    def transpose(self, cotangent: Any, x: Any) -> Any:
        return [attach_p.bind(cotangent, names=x.aval.names)]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        aval: Any = typeof(args[0])
        return self.bind(*args), aval.position(dims[0])


attach_p, detach_p = Attach("named_axes.attach"), Detach("named_axes.detach")


def named(x: Any, *names: str) -> Any:
    """``x`` with a name for each axis: ``named(x, "batch", "feature")``.

    Raises:
        AxisError: there are more or fewer names than axes, or one occurs twice.
    """
    x = dnp.asarray(x)
    if x.ndim != len(names) or len(set(names)) != len(names):
        shown = ", ".join(map(repr, names))
        refuse(f"named: an array of type {typeof(x).str_short()} cannot have the axes ({shown})",
               "Give one name for each axis, each once.")  # fmt: skip
    return attach_p.bind(x, names=names)


def values(x: Any, *names: str) -> Any:
    """The array of a named one, with its axes in this order: ``values(x, "feature", "batch")``.

    Raises:
        AxisError: these are not the names of its axes.
    """
    aval = type_of(x)
    if set(names) != set(aval.names) or len(names) != len(aval.names):
        shown = ", ".join(map(repr, names))
        refuse(f"values: the axes of {aval.str_short()} are not ({shown})",
               f"Name all of them: {aval.spelt()}.")  # fmt: skip
    order = [aval.names.index(n) for n in names]
    array = detach_p.bind(x)
    return array if order == sorted(order) else dnp.transpose(array, order)


def type_of(x: Any) -> NamedType:
    """The type of a named array.

    Raises:
        AxisError: it is not one.
    """
    aval = typeof(x)
    if not isinstance(aval, NamedType):
        refuse(f"an array of type {aval.str_short()} has no names for its axes",
               "Give them: named(x, ...).")  # fmt: skip
    return aval


def names_of(x: Any) -> tuple[Any, ...]:
    """The names of the axes of ``x``, in order; of an ordinary array or number none."""
    aval = typeof(x)
    return aval.names if isinstance(aval, NamedType) else ()


def is_named(x: Any) -> bool:
    """Whether ``x`` is a named array (perhaps one without axes), traced or not."""
    return isinstance(typeof(x), NamedType)
