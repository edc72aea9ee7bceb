"""Derivatives of pytrees along a path, by the series of ``dovetail.experimental.jet``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dovetail import tree
from dovetail.experimental.jet import jet, zero_term


def taylor(f: Callable[..., Any], order: int) -> Callable[..., list[Any]]:
    """The derivatives of ``f`` along a path, from the value to the derivative of order ``order``.

    Args:
        f: a function of one pytree of arrays.

    Returns: a function ``(x, *path)`` of pytrees of one structure and shapes, of floating-point or
        complex numbers: ``x`` is where the path is at t = 0, and ``path`` its derivatives there,
        the velocity first; derivatives that are left out are zero. It returns a list of
        ``order + 1`` pytrees like ``f(x)``: the derivatives of f(x(t)) at t = 0, of the orders
        from 0 to ``order``. So ``taylor(f, 3)(x, v)`` differentiates t -> f(x + t v).

    Raises:
        ValueError: ``order`` is negative, or a derivative differs from ``x`` in structure.
        TypeError: a derivative differs from ``x`` in shape, or ``x`` is not inexact.
        MissingRule: ``f`` applies an operation that has no derivative either.
    """
    if order < 0:
        raise ValueError(f"taylor: the order is {order}; it must not be negative.")

    def derivatives(x: Any, *path: Any) -> list[Any]:
        leaves, structure = tree.flatten(x)
        paths = [_leaves(d, structure, k) for k, d in enumerate(path[:order], 1)]
        paths += [[zero_term] * len(leaves)] * (order - len(paths))
        series = [[d[i] for d in paths] for i in range(len(leaves))]
        value, terms = jet(lambda *xs: f(tree.unflatten(structure, xs)), leaves, series)
        return [value, *(tree.map(partial(_term, k), value, terms) for k in range(order))]

    return derivatives


def _term(k: int, _: Any, terms: list[Any]) -> Any:
    return terms[k]


def _leaves(derivative: Any, structure: Any, k: int) -> list[Any]:
    leaves, found = tree.flatten(derivative)
    if found != structure:
        raise ValueError(f"taylor: derivative {k} has the structure {found}, and x {structure}.")
    return leaves
