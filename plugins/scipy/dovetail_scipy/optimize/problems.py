"""What methods of minimization share: a function with its gradient, when to stop, the results."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import value_and_grad
from dovetail_core import here, typeof

from ..arguments import Array


class OptimizeResults(NamedTuple):
    """What ``minimize`` found.

    Attributes:
        x: the last point, of the smallest value found.
        success: whether the gradient is as small as was asked for.
        status: 0 for success. Else, why it stopped: 1 after the most iterations, 2 function values
            or 3 gradients (of L-BFGS), 4 as a step gained next to nothing (of L-BFGS), 5 as no
            step led further down, which is so where the limits of precision are reached.
        fun, jac: the function's value and gradient at ``x``.
        hess_inv: an approximation of the inverse of the Hessian; None of L-BFGS.
        nfev, njev, nit: the numbers of function values, of gradients and of iterations.
    """

    x: Array
    success: Array | bool
    status: int | Array
    fun: Array
    jac: Array
    hess_inv: Array | None
    nfev: int | Array
    njev: int | Array
    nit: int | Array


class Point(NamedTuple):
    """A point, and the function there."""

    x: Any
    value: Any
    gradient: Any


Objective = Callable[[Any], Point]


def objective(fun: Callable[..., Any], args: tuple[Any, ...]) -> Objective:
    """``fun(x, *args)`` as a function that returns points.

    Raises (the function it returns):
        TypeError: ``fun`` returns something that is not a real scalar.
    """

    def checked(x: Any) -> Any:
        value = fun(x, *args)
        aval: Any = typeof(value)
        if aval.shape != () or aval.dtype.kind == "c":
            raise TypeError(
                f"minimize: fun must return a real scalar, got {aval.str_short()}{here()}"
            )
        return lax.convert_element_type(value, x.dtype)

    evaluate = value_and_grad(checked)
    return lambda x: Point(x, *evaluate(x))


def length(v: Any, order: Any) -> Any:
    """The norm of a vector, of an order as that of ``numpy.linalg.norm``."""
    return dnp.linalg.norm(v, order)


def choose(pred: Any, yes: Any, no: Any) -> Any:
    """Of two tuples of arrays, one."""
    return type(yes)(*(dnp.where(pred, y, n) for y, n in zip(yes, no)))
