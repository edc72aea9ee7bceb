"""The method of Broyden, Fletcher, Goldfarb and Shanno, in full and with limited memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import value_and_grad
from dovetail_core import here, typeof

from ..arguments import Array


class OptimizeResults(NamedTuple):
    """The results of ``minimize``.

    Attributes:
        x: the last point, which has the smallest value.
        success: whether the gradient is small enough.
        status: 0 for success. Otherwise the reason for the end: the greatest number of 1
            iterations, 2 function values or 3 gradients (L-BFGS); 4 a step that decreased the value
            too little (L-BFGS); 5 no step that decreases the value, as at the limit of precision.
        fun, jac: the function's value and gradient at ``x``.
        hess_inv: an approximation of the inverse of the Hessian; None for L-BFGS.
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
    """A point, and the function's value and gradient there."""

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
    """The norm of a vector, of an order as in ``numpy.linalg.norm``."""
    return dnp.linalg.norm(v, order)


def choose(pred: Any, yes: Any, no: Any) -> Any:
    """The tuple of arrays ``yes`` if ``pred``, else ``no``."""
    return type(yes)(*(dnp.where(pred, y, n) for y, n in zip(yes, no)))


DECREASE, CURVATURE = 1e-4, 0.9
"""The conditions' constants: the required part of the decrease that the slope predicts, and the
part of the slope that may remain."""


class Trial(NamedTuple):
    """A step length, the function there and its slope along the direction."""

    step: Any
    value: Any
    slope: Any


class Search(NamedTuple):
    """The state of a search: an interval of steps that contains good ones.

    ``low`` is the best step so far; ``high`` is infinite until a step was too long.
    """

    low: Trial
    high: Trial
    point: Point  # at the step ``low``
    done: Any
    count: Any


def line_search(f: Objective, start: Point, direction: Any, first: Any, most: int) -> Search:
    """Search along ``direction``, a descent, from ``start``; ``first`` is the first step.

    This is the search of Nocedal and Wright (Numerical Optimization, algorithms 3.5 and 3.6) as
    one loop: while nothing bounds the step from above it is doubled, then it is interpolated. Near
    a minimum, where differences of values are rounding alone, slopes tell whether a step is good
    (as Hager and Zhang propose).

    Returns: the last state. ``point`` is the best one; the search may have failed all the same to
    find a step that is ``done`` within ``most`` trials.
    """
    slope = lax.dot(start.gradient, direction)
    zero, infinite = lax.full_like(slope, 0), lax.full_like(slope, np.inf)
    rounding = dnp.abs(start.value) * float(dnp.finfo(slope.dtype).eps)

    def unfinished(s: Search) -> Any:
        distinct = lax.ne(s.low.step, s.high.step)
        return ~s.done & (s.count < most) & distinct

    def trial(s: Search) -> Search:
        step = dnp.where(s.count == 0, first, _next_step(s))
        point = f(start.x + step * direction)
        at = Trial(step, point.value, lax.dot(point.gradient, direction))
        enough = at.value <= start.value + DECREASE * step * slope
        flat = (at.value <= start.value + rounding) & (at.slope <= (2 * DECREASE - 1) * slope)
        good = (enough & (at.value < s.low.value)) | flat
        done = good & (dnp.abs(at.slope) <= -CURVATURE * slope)
        # The minimum is between the best step and this one: the bracket ends here.
        turn = at.slope * (s.high.step - s.low.step) >= 0
        high = choose(good, choose(turn, s.low, s.high), at)
        low, best = choose(good, at, s.low), choose(good, point, s.point)
        return Search(low, high, best, done, s.count + 1)

    none = Trial(zero, start.value, slope)
    false = lax.full_like(zero, False, bool)
    return lax.while_loop(
        unfinished, trial, Search(none, Trial(infinite, infinite, zero), start, false, 0)
    )


def _next_step(s: Search) -> Any:
    """The minimum of the cubic through both ends of the bracket, limited to its inner part; the
    middle if there is none."""
    low, high = s.low, s.high
    width = high.step - low.step
    d1 = low.slope + high.slope - 3 * (high.value - low.value) / width
    root = dnp.sqrt(dnp.maximum(d1 * d1 - low.slope * high.slope, 0))
    d2 = dnp.where(width > 0, root, -root)
    part = 1 - (high.slope + d2 - d1) / (high.slope - low.slope + 2 * d2)
    part = dnp.where((part >= 0.1) & (part <= 0.9), part, dnp.where(part < 0.1, 0.1, 0.5))
    return dnp.where(dnp.isinf(high.step), 2 * low.step, low.step + part * width)


RUNNING, SUCCESS, ITERATIONS, VALUES, GRADIENTS, NO_GAIN, NO_STEP = -1, 0, 1, 2, 3, 4, 5


class Pairs(NamedTuple):
    """The last steps and the changes of the gradient along them, the latest one last."""

    steps: Any
    changes: Any
    inverses: Any  # of their inner products; 0 where there is no pair yet


class State(NamedTuple):
    """The state of an iteration. ``curvature`` is the inverse Hessian or :class:`Pairs`."""

    at: Point
    curvature: Any
    status: Any
    evaluations: Any
    k: Any


def minimize_bfgs(
    f: Objective, x0: Any, maxiter: int | None = None, norm: Any = np.inf, gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> OptimizeResults:  # fmt: skip
    """Minimize with an approximation of the inverse Hessian as a matrix."""
    n = x0.shape[0]
    most = n * 200 if maxiter is None else maxiter
    identity = dnp.eye(n, dtype=x0.dtype)

    def step(s: State) -> State:
        direction, first = _descent(s, -(s.curvature @ s.at.gradient))
        result = line_search(f, s.at, direction, first, line_search_maxiter)
        x, y = result.point.x - s.at.x, result.point.gradient - s.at.gradient
        H = dnp.where((s.k == 0) & (lax.dot(x, y) > 0), _scaling(x, y) * identity, s.curvature)
        count = s.evaluations + result.count
        status = _status(s, result, [(s.k + 1 >= most, ITERATIONS)], norm, gtol)
        return State(result.point, _updated(H, x, y), status, count, s.k + 1)

    start = f(x0)
    end = lax.while_loop(_runs, step, _start(start, identity, norm, gtol, most))
    return _results(end, end.curvature)


def minimize_lbfgs(
    f: Objective, x0: Any, maxiter: float | None = None, norm: Any = np.inf, maxcor: int = 10,
    ftol: float = 2.220446049250313e-09, gtol: float = 1e-05, maxfun: float | None = None,
    maxgrad: float | None = None, maxls: int = 20,
) -> OptimizeResults:  # fmt: skip
    """Minimize with an approximation of the inverse Hessian by the last ``maxcor`` steps."""
    n = x0.shape[0]
    most = np.inf if maxiter is None else maxiter
    most = n * 200 if all(v is None for v in (maxiter, maxfun, maxgrad)) else most
    values = np.inf if maxfun is None else maxfun
    gradients = np.inf if maxgrad is None else maxgrad

    def step(s: State) -> State:
        direction, first = _descent(s, -_times_inverse(s.curvature, s.at.gradient))
        result = line_search(f, s.at, direction, first, maxls)
        x, y = result.point.x - s.at.x, result.point.gradient - s.at.gradient
        count = s.evaluations + result.count
        scale = dnp.maximum(dnp.maximum(dnp.abs(s.at.value), dnp.abs(result.point.value)), 1)
        stops = [
            (s.at.value - result.point.value <= ftol * scale, NO_GAIN),
            (count >= gradients, GRADIENTS),
            (count >= values, VALUES),
            (s.k + 1 >= most, ITERATIONS),
        ]
        status = _status(s, result, stops, norm, gtol)
        return State(result.point, _remembered(s.curvature, x, y), status, count, s.k + 1)

    room = dnp.zeros((maxcor, n), x0.dtype)
    pairs = Pairs(room, room, dnp.zeros(maxcor, x0.dtype))
    start = f(x0)
    end = lax.while_loop(_runs, step, _start(start, pairs, norm, gtol, most))
    return _results(end, None)


def _runs(s: State) -> Any:
    return s.status == RUNNING


def _start(at: Point, curvature: Any, norm: Any, gtol: float, most: float) -> State:
    small = length(at.gradient, norm) < gtol
    status = dnp.where(small, SUCCESS, ITERATIONS if most <= 0 else RUNNING).astype(np.int32)
    return State(at, curvature, status, 1, 0)


def _descent(s: State, direction: Any) -> tuple[Any, Any]:
    """A direction of descent and the first step along it.

    The direction is that of steepest descent if ``direction`` is no descent; the step is 1 if there
    is an approximation of the Hessian.
    """
    g = s.at.gradient
    down = (lax.dot(direction, g) < 0) & (s.k > 0)
    size = dnp.sqrt(lax.dot(g, g))
    cautious = dnp.minimum(1, 1 / dnp.where(size > 0, size, 1))
    return dnp.where(down, direction, -g), dnp.where(down, 1, cautious)


def _status(s: State, result: Any, stops: list[tuple[Any, int]], norm: Any, gtol: float) -> Any:
    """The status code: success, or that of the last of ``stops`` that holds, or ``RUNNING``."""
    status = dnp.full_like(s.status, RUNNING)
    for pred, code in stops:
        status = dnp.where(pred, code, status)
    moved = result.low.step > 0
    status = dnp.where(moved, status, NO_STEP)
    return dnp.where(length(result.point.gradient, norm) < gtol, SUCCESS, status)


def _scaling(x: Any, y: Any) -> Any:
    """The ratio of the step ``x`` to the change ``y`` of the gradient along it."""
    size = lax.dot(y, y)
    return lax.dot(x, y) / dnp.where(size > 0, size, 1)


def _inverse(x: Any, y: Any) -> Any:
    """The inverse of the curvature along a step; 0, so without effect, if it is not positive."""
    curvature = lax.dot(x, y)
    eps = float(dnp.finfo(x.dtype).eps)
    usable = curvature > eps * dnp.sqrt(lax.dot(x, x) * lax.dot(y, y))
    return dnp.where(usable, 1 / dnp.where(usable, curvature, 1), 0)


def _updated(H: Any, x: Any, y: Any) -> Any:
    """The inverse Hessian with the curvature along the step ``x``."""
    rho = _inverse(x, y)
    Hy = H @ y
    return (
        H
        + (rho + rho * rho * lax.dot(y, Hy)) * dnp.outer(x, x)
        - rho * (dnp.outer(Hy, x) + dnp.outer(x, Hy))
    )


def _remembered(pairs: Pairs, x: Any, y: Any) -> Pairs:
    rho = _inverse(x, y)
    new = Pairs(*(
        lax.concatenate([old[1:], value[None]], 0) for old, value in zip(pairs, (x, y, rho))
    ))  # fmt: skip
    return choose(rho > 0, new, pairs)


def _times_inverse(pairs: Pairs, g: Any) -> Any:
    """The inverse Hessian times a vector, by the two loops over the pairs."""

    def backwards(q: Any, pair: Pairs) -> tuple[Any, Any]:
        a = pair.inverses * lax.dot(pair.steps, q)
        return q - a * pair.changes, a

    def forwards(q: Any, pair: tuple[Pairs, Any]) -> tuple[Any, None]:
        (x, y, rho), a = pair
        return q + (a - rho * lax.dot(y, q)) * x, None

    q, a = lax.scan(backwards, g, pairs, reverse=True)
    x, y = pairs.steps[-1], pairs.changes[-1]
    q = q * dnp.where(pairs.inverses[-1] > 0, _scaling(x, y), 1)
    return lax.scan(forwards, q, (pairs, a))[0]


def _results(s: State, hess_inv: Any) -> OptimizeResults:
    at, count = s.at, s.evaluations
    return OptimizeResults(
        at.x, s.status == SUCCESS, s.status, at.value, at.gradient, hess_inv, count, count, s.k
    )
