"""Taylor mode: a truncated power series in place of every array, carried through a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import dovetail_core.tree.util as tree
from dovetail_core import Carrier, LiftTrace, RuleTable, algebra, is_inexact, lift_call, typeof

Series = tuple[Any, ...]
"""Coefficients of the powers of t, from the constant one on; those that are left out are zero."""

series_rules: RuleTable[Callable[..., Any]] = RuleTable("taylor.series")
"""Rules are ``rule(carrier, args, params)``: from series of the operands, of which at least one has
a second coefficient, to the series of the result (a list of them where there are multiple results),
of at most ``carrier.order + 1`` coefficients, each of the type of the first."""


class SeriesTrace(LiftTrace[Series]):
    """Runs operations on series by the rules of ``taylor.series``."""

    __slots__ = ()
    what = "taylor"


class SeriesCarrier(Carrier[Series, int]):
    """Lifted values are series; their structure is the degree."""

    def __init__(self, order: int) -> None:
        self.order = order
        self.key = ("taylor", order)

    def trace(self, parent: Any) -> SeriesTrace:
        return SeriesTrace(parent, self, series_rules)

    def pure(self, x: Any) -> Series:
        return (x,)

    def aval(self, value: Series) -> Any:
        return typeof(value[0])

    def structure(self, value: Series, depth: int) -> int:
        return len(value) - 1

    def join_structures(self, a: int, b: int) -> int:
        return max(a, b)

    def types(self, aval: Any, structure: int) -> tuple[Any, ...]:
        return (aval,) * (structure + 1)

    def arrays(self, value: Series, structure: int, depth: int) -> Series:
        return tuple(coefficient(value, k) for k in range(structure + 1))

    def value(self, arrays: Sequence[Any], structure: int, depth: int) -> Series:
        return tuple(arrays)

    def known(self, value: Series) -> Any:
        return value[0] if len(value) == 1 else None

    def primal(self, value: Series) -> Any:
        return value[0]


def coefficient(x: Series, k: int) -> Any:
    """The coefficient of the power ``k``."""
    return x[k] if k < len(x) else algebra().full(typeof(x[0]), 0)


def scaled(x: Any, factor: float) -> Any:
    """``x`` times a number, of the type of ``x``."""
    aval: Any = typeof(x)
    one = algebra().full(aval.update(shape=()), factor)
    return x if factor == 1 else algebra().mul(x, one)


def taylor(f: Callable[..., Any], order: int) -> Callable[..., list[Any]]:
    """The derivatives of ``f`` along a path, from the value to the derivative of order ``order``.

    Args:
        f: a function of one pytree of arrays.

    Returns: a function ``(x, *path)`` of pytrees of one structure, shapes and element types, of
        floating-point or complex numbers: ``x`` is where the path is at t = 0, and ``path`` its
        derivatives there, the velocity first; derivatives that are left out are zero. It returns
        a list of ``order + 1`` pytrees like ``f(x)``: the derivatives of f(x(t)) at t = 0, of the
        orders from 0 to ``order``. So ``taylor(f, 3)(x, v)`` differentiates t -> f(x + t v).

    Raises:
        ValueError: ``order`` is negative.
        TypeError: a derivative differs from ``x`` in structure or types, or ``x`` is not inexact.
        MissingRule: ``f`` applies an operation that has no derivative either.
    """
    if order < 0:
        raise ValueError(f"taylor: the order is {order}; it must not be negative.")
    carrier = SeriesCarrier(order)

    def derivatives(x: Any, *path: Any) -> list[Any]:
        leaves, structure = tree.tree_flatten(x)
        paths = [_leaves(d, x, k + 1) for k, d in enumerate(path[:order])]
        series = [
            (a, *(scaled(d, 1 / factorial(k + 1)) for k, d in enumerate(ds)))
            for a, *ds in zip(leaves, *paths)
        ]
        found: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            found[:] = tree.tree_flatten(f(tree.tree_unflatten(structure, xs)))
            return found[0]

        outs = lift_call(carrier, flat, series)
        each = [[scaled(coefficient(y, k), factorial(k)) for y in outs] for k in range(order + 1)]
        return [tree.tree_unflatten(found[1], xs) for xs in each]

    return derivatives


def _leaves(derivative: Any, x: Any, k: int) -> list[Any]:
    """The arrays of the derivative ``k`` of the path, in the types of those of ``x``."""
    (wanted, structure), (given, other) = (
        tree.tree_flatten_with_path(x),
        tree.tree_flatten(derivative),
    )
    if structure != other:
        differences = "; ".join(tree.tree_differences(structure, other))
        raise TypeError(f"taylor: x and derivative {k} must have one structure: {differences}")
    for (path, a), d in zip(wanted, given):
        aval, found = typeof(a), typeof(d)
        if not is_inexact(getattr(aval, "dtype", None)) or aval.strong() is not found.strong():
            raise TypeError(
                f"taylor: x{tree.keystr(path)} has type {aval.str_short()} and derivative {k} "
                f"{found.str_short()}; both must be of one type of real or complex numbers."
            )
    return [algebra().convert(d, typeof(a)) for (_, a), d in zip(wanted, given)]
