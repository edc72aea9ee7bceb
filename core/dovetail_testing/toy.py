"""A few primitives on arrays, evaluated with NumPy, with which the kernel alone is tested.

A plugin that depends on ``dovetail-core`` only can try its rule table on these primitives and on
those of :mod:`dovetail_testing.toy_control`. They are far too few for programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dovetail_core import (
    AbstractValue,
    Eqn,
    IOEffect,
    Primitive,
    ShapedArray,
    dce_rules,
    def_impl,
    typeof,
)

from .samples import Sample


def _array(name: str, x: AbstractValue) -> ShapedArray:
    if not isinstance(x, ShapedArray):
        raise TypeError(f"{name} takes arrays, got a value of type {x.str_short()}")
    return x


def _join(name: str, *types: AbstractValue) -> ShapedArray:
    """The type of an elementwise result: operands agree, or are scalars."""
    avals = [_array(name, t) for t in types]
    shapes = {a.shape for a in avals if a.shape}
    if len(shapes) > 1 or len({a.dtype for a in avals}) > 1:
        shown = ", ".join(a.str_short() for a in avals)
        raise TypeError(f"{name} takes operands of one dtype and shape (or scalars), got {shown}")
    shape = shapes.pop() if shapes else ()
    return ShapedArray(shape, avals[0].dtype, all(a.weak_type for a in avals))


def _elementwise(name: str, compute: Callable[..., Any]) -> Primitive:
    primitive = Primitive(f"toy.{name}")

    @primitive.def_abstract_eval
    def _type(*types: AbstractValue) -> ShapedArray:
        return _join(primitive.name, *types)

    @def_impl(primitive)
    def _compute(*args: Any, **params: Any) -> Any:
        aval = _join(primitive.name, *map(typeof, args))
        return np.asarray(compute(*args), aval.dtype)[()]

    return primitive


add_p = _elementwise("add", np.add).def_traits(linear=((0, 1),), commutative=True, monotone="+")
mul_p = _elementwise("mul", np.multiply).def_traits(linear=((0,), (1,)), commutative=True)
neg_p = _elementwise("neg", np.negative).def_traits(linear=((0,),), monotone="-")
sin_p = _elementwise("sin", np.sin)
cos_p = _elementwise("cos", np.cos)

square_p = Primitive("toy.square")
"""Has a decomposition and no rule anywhere."""


@square_p.def_abstract_eval
def _square_type(x: AbstractValue) -> ShapedArray:
    return _join("toy.square", x)


@square_p.def_decomposition
def _square(x: Any) -> Any:
    return mul_p.bind(x, x)


less_p = Primitive("toy.less")


@less_p.def_abstract_eval
def _less_type(x: AbstractValue, y: AbstractValue) -> ShapedArray:
    return ShapedArray(_join("toy.less", x, y).shape, np.bool_)


@def_impl(less_p)
def _less(x: Any, y: Any) -> Any:
    return np.less(x, y)


select_p = Primitive("toy.select")
"""``select(which, on_false, on_true)``; ``which`` is a boolean array or scalar."""


@select_p.def_abstract_eval
def _select_type(which: AbstractValue, *cases: AbstractValue) -> ShapedArray:
    if _array("toy.select", which).dtype != np.bool_:
        raise TypeError(f"toy.select chooses by a boolean, got {which.str_short()}")
    chosen = _join("toy.select", *cases)
    return chosen.update(shape=_join("toy.select", which, chosen.update(dtype=np.bool_)).shape)


@def_impl(select_p)
def _select(which: Any, on_false: Any, on_true: Any) -> Any:
    where: Any = np.where
    return where(which, on_true, on_false)


sum_p = Primitive("toy.sum")


@sum_p.def_abstract_eval
def _sum_type(x: AbstractValue, *, axes: tuple[int, ...]) -> ShapedArray:
    aval = _array("toy.sum", x)
    if not all(0 <= a < aval.ndim for a in axes):
        raise TypeError(f"toy.sum over axes {axes} of a value of type {aval.str_short()}")
    shape = [d for i, d in enumerate(aval.shape) if i not in axes]
    return ShapedArray(shape, aval.dtype, aval.weak_type)


@def_impl(sum_p)
def _sum(x: Any, *, axes: tuple[int, ...]) -> Any:
    add: Any = np.add
    return add.reduce(x, axes, x.dtype)


sincos_p = Primitive("toy.sincos", multiple_results=True)
"""Two results; its ``dce`` rule computes only the one that is used."""


@sincos_p.def_abstract_eval
def _sincos_type(x: AbstractValue) -> list[ShapedArray]:
    return [_join("toy.sincos", x)] * 2


@def_impl(sincos_p)
def _sincos(x: Any) -> list[Any]:
    return [np.sin(x), np.cos(x)]


@dce_rules.register(sincos_p)
def _sincos_dce(used: list[bool], eqn: Eqn) -> tuple[list[bool], Eqn | None]:
    if all(used):
        return [True], eqn
    for one, primitive, out in zip(used, (sin_p, cos_p), eqn.outvars):
        if one:
            return [True], eqn.replace(primitive=primitive, outvars=[out])
    return [False], None


emit_p = Primitive("toy.emit", multiple_results=True).def_traits(effect_only=True)
"""No result and an outside effect: appends its operand to :data:`EMITTED`."""
EMITTED: list[Any] = []


@emit_p.def_effectful_abstract_eval
def _emit_type(x: AbstractValue) -> tuple[list[ShapedArray], set[IOEffect]]:
    return [], {IOEffect("emit")}


@def_impl(emit_p)
def _emit(x: Any) -> list[Any]:
    EMITTED.append(x)
    return []


def samples() -> Iterator[Sample]:
    """Inputs of the primitives above."""
    x, y = np.array([0.5, -1.5, 2.0], np.float32), np.array([[1.0, -0.0], [3.5, 1e-3]])
    for p in (neg_p, sin_p, cos_p, square_p, sincos_p):
        yield Sample(p, (x,))
        yield Sample(p, (np.float32(0.25),))
        yield Sample(p, (np.zeros((0, 3), np.float32),), tags={"empty"})
    for p in (add_p, mul_p, less_p):
        yield Sample(p, (x, x[::-1].copy()))
        yield Sample(p, (x, np.float32(2.0)))
        yield Sample(p, (np.array([2**31 - 1, -5], np.int32), np.int32(3)), tags={"extreme"})
        yield Sample(p, (np.array([np.nan, np.inf], np.float32), x[:2]), tags={"nonsmooth"})
    yield Sample(select_p, (np.array([True, False, True]), x, -x))
    yield Sample(select_p, (True, x, np.float32(1.0)))
    yield Sample(sum_p, (y.astype(np.float32),), {"axes": (0,)})
    yield Sample(sum_p, (y.astype(np.float32),), {"axes": (0, 1)})
    yield Sample(emit_p, (x,), tags={"effect"})
