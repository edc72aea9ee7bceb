"""What rules are made of: monotone rules, hulls, magnitudes, constants beside arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import dovetail_lax as lax
from dovetail_core import Primitive, ShapedArray, is_inexact, typeof

from ..bounds import Bounds, bounds_rules
from ..order import limits

Args = Sequence[Bounds]
Params = dict[str, Any]


def rule(*primitives: Primitive) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Decorator: the rule of one or several primitives, ``rule(carrier, args, params)``."""

    def fill(rule: Callable[..., Any]) -> Callable[..., Any]:
        for primitive in primitives:
            bounds_rules.set(primitive, rule)
        return rule

    return fill


def monotone(primitive: Primitive, directions: str = "") -> None:
    """Add the rule of an operation that rises (``+``) or falls (``-``) with each operand.

    Without ``directions`` it rises with all of them, however many they are.
    """

    def rule(carrier: Any, args: Args, params: Params) -> Any:
        signs = directions or "+" * len(args)
        low = primitive.bind(*[a[s == "-"] for a, s in zip(args, signs)], **params)
        high = primitive.bind(*[a[s == "+"] for a, s in zip(args, signs)], **params)
        return list(zip(low, high)) if primitive.multiple_results else (low, high)

    bounds_rules.set(primitive, rule)


def dtype_of(x: Any) -> Any:
    """The element type of a value."""
    aval: Any = typeof(x)
    return aval.dtype


def shape_of(x: Any) -> tuple[int, ...]:
    """The shape of a value."""
    aval: Any = typeof(x)
    return aval.shape


def constant(value: Any, like: Any) -> Any:
    """``value`` as a scalar operand beside an array, whose (weak) type the result then has."""
    aval: Any = typeof(like)
    python = bool if aval.dtype.kind == "b" else float if is_inexact(aval.dtype) else int
    scalar = python(value)
    weak = aval.weak_type and typeof(scalar) is ShapedArray((), aval.dtype, True)
    return scalar if weak else aval.dtype.type(value)


def where(condition: Any, yes: Any, no: Any) -> Any:
    """Elementwise choice; each of the three may be a scalar."""
    return lax.select_n_p.bind(condition, no, yes)


def spread(x: Any, shape: Sequence[int], dims: Sequence[int] = ()) -> Any:
    """``x`` broadcast to ``shape``; ``x`` itself where it has that shape."""
    if shape_of(x) == tuple(shape):
        return x
    return lax.broadcast_in_dim_p.bind(x, shape=tuple(shape), broadcast_dimensions=tuple(dims))


def span(values: Sequence[Any]) -> Bounds:
    """The least and the greatest of arrays."""
    return reduce(lax.min_p.bind, values), reduce(lax.max_p.bind, values)


def ends(x: Bounds) -> Bounds | tuple[Any]:
    """Both bounds, or the one known array."""
    return x[:1] if x[0] is x[1] else x


def magnitudes(x: Bounds) -> Bounds:
    """The bounds of ``abs(x)``."""
    low, high = x
    if dtype_of(low).kind == "u":
        return x
    mirrored = lax.neg_p.bind(low)
    return (
        lax.max_p.bind(lax.max_p.bind(low, lax.neg_p.bind(high)), constant(0, low)),
        lax.max_p.bind(mirrored, high),
    )


def has_zero(x: Bounds) -> Any:
    """Whether zero is between the bounds."""
    zero = constant(0, x[0])
    return lax.and_p.bind(lax.le_p.bind(x[0], zero), lax.ge_p.bind(x[1], zero))


def anything_where(condition: Any, bounds: Bounds) -> Bounds:
    """``bounds``, and where ``condition`` holds those of all numbers of the type."""
    low, high = (constant(end, bounds[0]) for end in limits(dtype_of(bounds[0])))
    return where(condition, low, bounds[0]), where(condition, high, bounds[1])


def certain(*args: Bounds) -> Any:
    """Where all of these are known when the program runs, because their bounds are equal."""
    return reduce(lax.and_p.bind, [lax.eq_p.bind(low, high) for low, high in args])
