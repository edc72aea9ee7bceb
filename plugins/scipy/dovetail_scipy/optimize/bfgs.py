"""The method of Broyden, Fletcher, Goldfarb and Shanno, in full and with limited memory."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from .line_search import line_search
from .problems import Objective, OptimizeResults, Point, choose, length

RUNNING, SUCCESS, ITERATIONS, VALUES, GRADIENTS, NO_GAIN, NO_STEP = -1, 0, 1, 2, 3, 4, 5


class Pairs(NamedTuple):
    """The last steps and the changes of the gradient along them, the latest one last."""

    steps: Any
    changes: Any
    inverses: Any  # of their inner products; 0 where there is no pair yet


class State(NamedTuple):
    """Where an iteration stands. ``curvature`` is the inverse Hessian or :class:`Pairs`."""

    at: Point
    curvature: Any
    status: Any
    evaluations: Any
    k: Any


def minimize_bfgs(
    f: Objective, x0: Any, maxiter: int | None = None, norm: Any = np.inf, gtol: float = 1e-5,
    line_search_maxiter: int = 10,
) -> OptimizeResults:  # fmt: skip
    """Minimize with an approximation of the whole inverse Hessian."""
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
    """Minimize with what the last ``maxcor`` steps say of the Hessian."""
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
    """The direction, or that of steepest descent where it does not lead down; the first step, which
    is one where a Hessian is known."""
    g = s.at.gradient
    down = (lax.dot(direction, g) < 0) & (s.k > 0)
    size = dnp.sqrt(lax.dot(g, g))
    cautious = dnp.minimum(1, 1 / dnp.where(size > 0, size, 1))
    return dnp.where(down, direction, -g), dnp.where(down, 1, cautious)


def _status(s: State, result: Any, stops: list[tuple[Any, int]], norm: Any, gtol: float) -> Any:
    """Why to stop, the later of ``stops`` first; success before all."""
    status = dnp.full_like(s.status, RUNNING)
    for pred, code in stops:
        status = dnp.where(pred, code, status)
    moved = result.low.step > 0
    status = dnp.where(moved, status, NO_STEP)
    return dnp.where(length(result.point.gradient, norm) < gtol, SUCCESS, status)


def _scaling(x: Any, y: Any) -> Any:
    """How long a step is that changes the gradient so, in proportion."""
    size = lax.dot(y, y)
    return lax.dot(x, y) / dnp.where(size > 0, size, 1)


def _inverse(x: Any, y: Any) -> Any:
    """One over the curvature along a step; 0 where there is none, so that it changes nothing."""
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
