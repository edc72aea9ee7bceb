"""Operations on high values that follow from their arrays: the provider ``high_algebra``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import SymbolicZero as Zero, instantiate_zeros, is_linear
from dovetail_core import (
    EVAL,
    HiType,
    add_tangents as add_arrays,
    algebra,
    current_source,
    describe_source,
    get_trace,
    typeof,
    with_leading,
    zeros_like_aval,
)
from dovetail_high.lowering import LowerTrace
from dovetail_tree.util import tree_map

from .primitive import HiPrimitive


class Make(HiPrimitive):
    """``make(*arrays)``: the value of a type from its arrays."""

    def abstract_eval(self, *avals: Any, type: HiType) -> Any:
        return type

    def to_lo(self, *arrays: Any, type: HiType) -> Any:
        return type.raise_val(*arrays)

    def jvp(self, primals: Any, tangents: Any, *, type: HiType) -> Any:
        want: Any = type.tangent_type()
        if not want.is_high:
            return self.bind(*primals, type=type), Zero(want)
        tangent = self.bind(*map(instantiate_zeros, tangents), type=want)
        return self.bind(*primals, type=type), tangent

    def transpose(self, cotangent: Any, *arrays: Any, type: HiType) -> Any:
        return list(take_p.bind(cotangent))

    def batch(self, axis: Any, args: Any, dims: Any, *, type: Any) -> Any:
        def leading(x: Any, d: int | None) -> Any:
            if d is None:
                return algebra().broadcast(x, axis.size, 0)
            return algebra().move_axis(x, d, 0)

        arrays = [leading(x, d) for x, d in zip(args, dims)]
        return self.bind(*arrays, type=with_leading(type, axis.size)), 0


class Take(HiPrimitive):
    """``take(x)``: the arrays of a value of an extended dtype."""

    multiple_results = True

    def abstract_eval(self, x: Any) -> Any:
        return x.lo_ty()

    def to_lo(self, x: Any) -> Any:
        return list(typeof(x).lower_val(x))  # type: ignore[attr-defined]

    def jvp(self, primals: Any, tangents: Any) -> Any:
        outs = self.bind(*primals)
        if tangents[0].__class__ is Zero or not typeof(tangents[0]).is_high:
            return outs, [Zero(typeof(x).tangent_type()) for x in outs]
        return outs, self.bind(*tangents)

    def transpose(self, cotangents: Any, x: Any) -> Any:
        want = x.aval.cotangent_type()
        return [make_p.bind(*map(instantiate_zeros, cotangents), type=want)]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        outs = self.bind(*args)
        return outs, list(dims) * len(outs)


class Add(HiPrimitive):
    """``add(x, y)``: the sum of two values of one type, array by array."""

    def abstract_eval(self, x: Any, y: Any) -> Any:
        if x != y:
            raise TypeError(f"values of types {x.str_short()} and {y.str_short()} cannot be added")
        return x

    def to_lo(self, x: Any, y: Any) -> Any:
        aval: Any = typeof(x)
        return aval.raise_val(*map(add_arrays, aval.lower_val(x), aval.lower_val(y)))

    def jvp(self, primals: Any, tangents: Any) -> Any:
        out = self.bind(*primals)
        dx, dy = tangents
        if dx.__class__ is Zero or dy.__class__ is Zero:
            return out, dy if dx.__class__ is Zero else dx
        return out, add_arrays(dx, dy)

    def transpose(self, cotangent: Any, x: Any, y: Any) -> Any:
        return [cotangent if is_linear(v) else None for v in (x, y)]

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        element = _element(args[0], axis.size, dims[0])
        spec = dims[0] if dims[0] == dims[1] else element.leading_spec()
        moved = [element.remap(x, axis.size, d, spec) for x, d in zip(args, dims)]
        return self.bind(*moved), spec


class Remap(HiPrimitive):
    """``remap(x)``: elements of ``type`` with their mapped axis moved, or along a new one.

    ``source`` and ``destination`` are specs of the axis, or None.
    """

    def abstract_eval(
        self, x: Any, *, type: HiType, size: int, source: Any, destination: Any
    ) -> Any:
        out = _with_axis(type, size, destination)
        axes = _axes(x, source, out, destination)
        if any(s is not None and d is None for s, d in axes):
            raise ValueError(
                f"a value of type {x.str_short()} is mapped as {source!r}"
                f"{describe_source(current_source())}, so that it cannot be as {destination!r}: "
                "parts that depend on the mapped axis must keep it."
            )
        return out

    def to_lo(self, x: Any, *, type: HiType, size: int, source: Any, destination: Any) -> Any:
        return _moved(x, type, size, source, destination)

    def jvp(self, primals: Any, tangents: Any, *, type: HiType, **params: Any) -> Any:
        tangent = self.bind(*tangents, type=type.tangent_type(), **params)
        return self.bind(*primals, type=type, **params), tangent

    def transpose(
        self, cotangent: Any, x: Any, *, type: HiType, size: int, source: Any, destination: Any
    ) -> Any:
        back = {"type": type.cotangent_type(), "size": size}
        return [collect_p.bind(cotangent, source=destination, destination=source, **back)]

    def batch(
        self, axis: Any, args: Any, dims: Any, *, type: HiType, size: int, source: Any,
        destination: Any,
    ) -> Any:  # fmt: skip
        """Batch with the outer axis first, so that the inner one follows it everywhere."""
        outer: Any = _with_axis(type, size, source)
        x = outer.remap(args[0], axis.size, dims[0], outer.leading_spec())
        inner: Any = type.unmapped(axis.size, type.leading_spec())
        moved = self.bind(
            x, type=inner, size=size, source=_behind(source), destination=_behind(destination)
        )
        return moved, typeof(moved).leading_spec()  # type: ignore[attr-defined]


class Collect(Remap):
    """The transpose of ``remap``, which sums over a broadcast axis."""

    def abstract_eval(
        self, x: Any, *, type: HiType, size: int, source: Any, destination: Any
    ) -> Any:
        return _with_axis(type, size, destination)

    def transpose(
        self, cotangent: Any, x: Any, *, type: HiType, size: int, source: Any, destination: Any
    ) -> Any:
        back = {"type": type.cotangent_type(), "size": size}
        return [remap_p.bind(cotangent, source=destination, destination=source, **back)]


class Pick(HiPrimitive):
    """``pick(index, *cases)``: per element of the leading axis, that of the case of its index."""

    def abstract_eval(self, index: Any, *cases: Any) -> Any:
        return cases[0]

    def to_lo(self, index: Any, *cases: Any) -> Any:
        aval: Any = typeof(cases[0])
        columns = zip(*[aval.lower_val(c) for c in cases])
        return aval.raise_val(*[algebra().pick(index, list(column)) for column in columns])

    def jvp(self, primals: Any, tangents: Any) -> Any:
        index, *cases = primals
        return self.bind(index, *cases), self.bind(index, *map(instantiate_zeros, tangents[1:]))

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        index, *cases = args
        if dims[0] is None:
            index = algebra().broadcast(index, axis.size, 0)
        else:
            index = algebra().move_axis(index, dims[0], 0)
        element = next(_element(c, axis.size, d) for c, d in zip(cases, dims[1:]))
        front = element.leading_spec()
        moved = [element.remap(c, axis.size, d, front) for c, d in zip(cases, dims[1:])]
        return self.bind(index, *moved), front

    def transpose(self, cotangent: Any, index: Any, *cases: Any) -> Any:
        none = zeros_like_aval(typeof(cotangent))
        result: list[Any] = [None]
        for i, case in enumerate(cases):
            only = [cotangent if i == j else none for j in range(len(cases))]
            result.append(self.bind(index, *only) if is_linear(case) else None)
        return result


def _with_axis(aval: HiType, size: int, spec: Any) -> Any:
    return aval if spec is None else aval.unmapped(size, spec)


def _element(x: Any, size: int, spec: Any) -> Any:
    aval: Any = typeof(x)
    return aval if spec is None else aval.mapped(size, spec)


def _axes(aval: Any, source: Any, out: Any, destination: Any) -> list[tuple[Any, Any]]:
    """The mapped axis of each array before and after."""
    n = len(aval.lo_ty())
    before = [None] * n if source is None else aval.lo_axes(source)
    after = [None] * n if destination is None else out.lo_axes(destination)
    return list(zip(before, after))


def _behind(spec: Any) -> Any:
    """A spec with one more axis in front, which integers count and names do not."""
    later = lambda d: d + 1 if isinstance(d, int) else d  # noqa: E731
    return tree_map(later, spec, is_leaf=lambda d: d is None)


def _moved(x: Any, type: HiType, size: int, source: Any, destination: Any) -> Any:
    aval: Any = typeof(x)
    out = _with_axis(type, size, destination)
    axes = _axes(aval, source, out, destination)
    return out.raise_val(*[_move(a, size, s, d) for a, (s, d) in zip(aval.lower_val(x), axes)])


def _move(x: Any, size: int, source: int | None, destination: int | None) -> Any:
    if source == destination:
        return x
    if source is None:
        return algebra().broadcast(x, size, destination)  # type: ignore[arg-type]
    if destination is None:
        return algebra().sum(x, (source,))
    return algebra().move_axis(x, source, destination)


make_p, take_p = Make("hi_make"), Take("hi_take")
add_p, pick_p = Add("hi_add"), Pick("hi_pick")
remap_p, collect_p = Remap("hi_remap"), Collect("hi_collect")


class ArraysAlgebra:
    """The provider."""

    def make(self, aval: Any, arrays: Sequence[Any]) -> Any:
        """The value with these arrays; without an operation if they are concrete."""
        trace = get_trace()
        if trace is EVAL or isinstance(trace, LowerTrace):
            return aval.raise_val(*arrays)
        return make_p.bind(*arrays, type=aval)

    def take(self, x: Any) -> Sequence[Any]:
        """The arrays of a traced value of an extended dtype."""
        return take_p.bind(x)

    def add(self, x: Any, y: Any) -> Any:
        """The sum."""
        return add_p.bind(x, y)

    def remap(self, aval: HiType, x: Any, size: int, source: Any, destination: Any) -> Any:
        """Elements with their mapped axis moved."""
        if source == destination:
            return x
        return remap_p.bind(x, type=aval, size=size, source=source, destination=destination)

    def pick(self, index: Any, cases: Sequence[Any]) -> Any:
        """Elements of the leading axis, chosen among cases."""
        return pick_p.bind(index, *cases)


ALGEBRA = ArraysAlgebra()
