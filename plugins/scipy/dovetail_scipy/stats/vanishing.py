"""Probabilities of counts whose slopes in a parameter are finite where they vanish themselves.

Elsewhere the slope is the probability times that of its logarithm, which has no cancellation. At an
end of the parameter's range the logarithm is minus infinity, and the slope a difference of two
neighbouring probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp

from ..special.evaluation import differentiable, partial_of

Function = Callable[..., Any]


def probability(
    log: Function, arity: int, position: int, is_end: Function, at_end: Function
) -> Function:
    """``exp(log(...))`` of ``arity`` arguments with its slopes.

    Args:
        position: the argument at whose ends probabilities vanish.
        is_end: whether it is at an end.
        at_end: ``at_end(itself, value, *args)``: the slope in it there.
    """

    def usual(argnum: int, out: Any, args: tuple[Any, ...]) -> Any:
        return out * partial_of(log, argnum, arity)(*args)

    def partial(argnum: int) -> Function:
        if argnum != position:
            return lambda out, *args: usual(argnum, out, args)

        def slope(out: Any, *args: Any) -> Any:
            end = is_end(args[position])
            inner = dnp.where(end, 0.5, args[position])
            away = usual(argnum, out, (*args[:position], inner, *args[position + 1 :]))
            return dnp.where(end, at_end(found, out, *args), away)

        return slope

    @differentiable(*[partial(i) for i in range(arity)])
    def found(*args: Any) -> Any:
        return lax.exp(log(*args))

    return found


def before(mass: Function, k: Any, *args: Any) -> Any:
    """The probability of the count before ``k``; 0 of none."""
    return dnp.where(k > 0, mass(dnp.where(k > 0, k - 1.0, 0.0), *args), 0.0)
