"""Differential equations by the power series of their solutions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail import lax, tree

from .taylor import taylor


def solution(f: Callable[[Any], Any], order: int) -> Callable[[Any, Any, int], Any]:
    """Solves y' = f(y) by steps, each the power series of the solution up to ``order``.

    The series is found from itself: the derivatives of f(y(t)) up to k are those of y up to k + 1.

    Args:
        f: a function of a pytree of arrays to one of the same structure and types.

    Returns: a function ``(y, time, steps)`` to the state at ``time`` of what starts at ``y``.

    Raises:
        ValueError: ``order`` is not positive.
    """
    if order < 1:
        raise ValueError(f"solution: the order is {order}; it must be positive.")

    def series(y: Any) -> list[Any]:
        path = [f(y)]
        while len(path) < order:
            path.append(taylor(f, len(path))(y, *path)[-1])
        return path

    def solve(y: Any, time: Any, steps: int) -> Any:
        h = time / steps

        def step(_: Any, y: Any) -> Any:
            value, weight = y, 1.0
            for k, d in enumerate(series(y), 1):
                weight = weight * h / k
                value = tree.map(lambda a, b, w=weight: a + w * b, value, d)
            return value

        return lax.fori_loop(0, steps, step, y)

    return solve
