"""Helpers of decompositions: weak types of results, and associative steps applied as trees."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, TypeVar

from dovetail_core import ClosedJaxpr, Primitive, jaxpr_as_fun, typeof

from .arithmetic import add_p
from .discrete import or_p
from .moves import along, full, joined, padded, reshaped, spread, transposed
from .values import convert_element_type_p

F = TypeVar("F", bound=Callable[..., Any])


def def_typed_decomposition(primitive: Primitive) -> Callable[[F], F]:
    """Decorator: ``def_decomposition`` of a function, with its results' weak types set right."""

    def define(f: F) -> F:
        def decomposition(*args: Any, **params: Any) -> Any:
            out = f(*args, **params)
            wanted = primitive.infer(tuple([typeof(x) for x in args]), params).avals
            if primitive.multiple_results:
                return [as_typed(x, a) for x, a in zip(out, wanted)]
            return as_typed(out, wanted[0])

        primitive.def_decomposition(decomposition)
        return f

    return define


def as_typed(x: Any, aval: Any) -> Any:
    """``x``, of the type ``aval`` but for weak typing, as one of exactly that type."""
    if typeof(x) == aval:
        return x
    return convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=aval.weak_type)


Step = Callable[[Sequence[Any], Sequence[Any]], Sequence[Any]]
"""Combines two lists of arrays, element by element: earlier elements first."""


def mapped(jaxpr: ClosedJaxpr) -> Callable[..., list[Any]]:
    """A program on scalars as a function on arrays of one shape, element by element."""
    from dovetail_batching import vmap

    def run(*args: Any) -> list[Any]:
        f = jaxpr_as_fun(jaxpr)
        for _ in args[0].shape:
            f = vmap(f)
        return list(f(*args))

    return run


def flattened(x: Any, axes: Sequence[int]) -> Any:
    """``x`` with ``axes`` merged into one leading axis."""
    rest = [i for i in range(len(x.shape)) if i not in axes]
    x = transposed(x, (*axes, *rest))
    n = len(axes)
    return reshaped(x, (prod(x.shape[:n]), *x.shape[n:]))


def spread_scalar(scalar: Any, shape: tuple[int, ...]) -> Any:
    """A scalar in the given shape."""
    return scalar if shape == () else spread(scalar, shape)


def fold(
    xs: Sequence[Any], step: Step, empty: Sequence[Any], neighbours: bool = False
) -> list[Any]:
    """Reduce the leading axis; ``empty`` is the result where there is no element.

    Elements are paired with those half the length away, which is fast; with ``neighbours`` with
    those next to them, which keeps their order for steps that do not commute.
    """
    n: int = xs[0].shape[0]
    if n == 0:
        return [_filled(e, x) for e, x in zip(empty, xs)]
    while n > 1:
        half = n // 2
        even = 2 * half
        if neighbours:
            parts = [(along(x, 0, 0, even, 2), along(x, 0, 1, even, 2)) for x in xs]
        else:
            parts = [(along(x, 0, 0, half), along(x, 0, half, even)) for x in xs]
        result = step([a for a, _ in parts], [b for _, b in parts])
        if even < n:
            xs = [joined([y, along(x, 0, even, n)], 0) for x, y in zip(xs, result)]
        else:
            xs = result
        n -= half
    return [reshaped(x, x.shape[1:]) for x in xs]


def _filled(value: Any, x: Any) -> Any:
    if value.__class__ is int:
        return full(x.shape[1:], value, x.dtype)
    return spread_scalar(value, x.shape[1:])


def scan(xs: Sequence[Any], step: Step, axis: int) -> list[Any]:
    """All partial results along ``axis``, in about 2n steps of which 2 log n are in sequence.

    Pairs of neighbours are combined and scanned, which gives the results at odd positions; one
    more step gives those between.
    """
    n: int = xs[0].shape[axis]
    if n < 2:
        return list(xs)
    odd = scan(
        step([along(x, axis, 0, n - 1, 2) for x in xs], [along(x, axis, 1, n, 2) for x in xs]),
        step,
        axis,
    )
    last = (n - 1) // 2
    even = [along(x, axis, 0, 1) for x in xs]
    if last:
        later = step([along(x, axis, 0, last) for x in odd], [along(x, axis, 2, n, 2) for x in xs])
        even = [joined([x, y], axis) for x, y in zip(even, later)]
    return [_interleaved(a, b, axis, n) for a, b in zip(even, odd)]


def _interleaved(even: Any, odd: Any, axis: int, n: int) -> Any:
    """The array with ``even`` at even positions and ``odd`` at odd ones."""
    before = ((0, 0, 0),) * axis
    after = ((0, 0, 0),) * (len(even.shape) - axis - 1)
    a = padded(even, (*before, (0, 1 - n % 2, 1), *after))
    b = padded(odd, (*before, (1, n % 2, 1), *after))
    return (or_p if even.dtype.kind == "b" else add_p).bind(a, b)
