"""``odeint``: adaptive steps forward, the adjoint equation backward."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import vjp
from dovetail_core import float0, here
from dovetail_custom_rules import closure_convert, custom_vjp
from dovetail_lax import dtypes
from dovetail_tree.util import tree_flatten, tree_leaves, tree_map, tree_unflatten

from .steps import (
    initial_step_size,
    interp_fit_dopri,
    mean_error_ratio,
    optimal_step_size,
    runge_kutta_step,
)


class Limits(NamedTuple):
    """Bounds of errors and steps."""

    rtol: float
    atol: float
    mxstep: float
    hmax: float


def odeint(
    func: Callable[..., Any], y0: Any, t: Any, *args: Any, rtol: float = 1.4e-8,
    atol: float = 1.4e-8, mxstep: float = np.inf, hmax: float = np.inf,
) -> Any:  # fmt: skip
    """Solve ``dy/dt = func(y, t, *args)``, ``y(t[0]) = y0``: the states at all times.

    Steps of orders 5(4) (Dormand and Prince) adapt to the error; values between steps come from a
    polynomial of degree 4. Differentiable in reverse in ``y0``, ``t``, ``args``, and what ``func``
    closes over: the adjoint equation is solved backward, in memory that steps do not add to.

    Args:
        func: the derivative of ``y``, a pytree like it.
        y0: a pytree of arrays.
        t: a vector of increasing times, floating-point numbers.
        args: pytrees of arrays.
        rtol, atol: the error of a step is at most ``atol + rtol * |y|`` in the root mean square.
        mxstep: the largest number of steps between two times.
        hmax: the longest step.

    Returns: a pytree like ``y0``, each array with a first axis for the times. States that are not
    reached in ``mxstep`` steps, because they are infinite, or because times decrease, are nan.

    Raises:
        TypeError: times are no floating-point numbers, an argument is no array, or ``func`` returns
            another structure than that of ``y``.
        ValueError: ``t`` is no vector with at least one element, or what ``func`` returns has other
            shapes than ``y``.
    """
    times = _times(t)
    for x in tree_leaves(args):
        if not isinstance(x, (bool, int, float, complex)) and not hasattr(x, "dtype"):
            raise TypeError(f"odeint: args must be arrays or numbers, got {x!r}{here()}")
    y0 = tree_map(_inexact, y0)
    vectors = Vectors(y0, times.dtype)
    times = times.astype(dtypes.finfo(vectors.dtype).dtype)

    def flat(v: Any, s: Any, *rest: Any) -> Any:
        return vectors.of(func(vectors.state(v), s, *rest))

    start = vectors.of(y0)
    converted, closed = closure_convert(flat, start, times[0], *args)
    limits = Limits(rtol, atol, mxstep, hmax)
    return vectors.state(_solve(converted, limits, start, times, (*args, *closed)))


def _times(t: Any) -> Any:
    times = dnp.asarray(t)
    if not dtypes.issubdtype(times.dtype, np.floating):
        raise TypeError(f"odeint: times must be floating-point numbers, got {times.dtype}{here()}")
    if times.ndim != 1 or not times.shape[0]:
        raise ValueError(
            "odeint: t must be a vector of times, that of y0 first, got shape "
            f"{times.shape}{here()}"
        )
    return times


def _inexact(x: Any) -> Any:
    x = dnp.asarray(x)
    return x if dtypes.issubdtype(x.dtype, np.inexact) else x.astype(dtypes.as_dtype(float))


class Vectors:
    """States as vectors, of the dtype that times and all arrays of a state promote to."""

    def __init__(self, y: Any, times: Any) -> None:
        leaves, self.tree = tree_flatten(y)
        self.kinds = [(x.shape, x.dtype) for x in leaves]
        self.dtype = dtypes.result_type(times, *leaves)
        self.ends = list(accumulate((x.size for x in leaves), initial=0))

    def of(self, y: Any) -> Any:
        """A state, or its derivative, as a vector."""
        leaves, tree = tree_flatten(y)
        if tree != self.tree:
            raise TypeError(
                f"odeint: func must return a pytree like y0, {self.tree}, got {tree}{here()}"
            )
        for x, (shape, _) in zip(leaves, self.kinds):
            if dnp.shape(x) != shape:
                raise ValueError(
                    f"odeint: func must return an array of shape {shape} for each such array of "
                    f"y0, got shape {dnp.shape(x)}{here()}"
                )
        parts = [dnp.ravel(x).astype(self.dtype) for x in leaves]
        return dnp.concatenate([dnp.zeros(0, self.dtype), *parts])

    def state(self, v: Any) -> Any:
        """The state in a vector; with as many axes in front of it as there are in ``v``."""
        parts = zip(self.kinds, self.ends, self.ends[1:])
        leaves = [
            dnp.reshape(v[..., a:b], (*v.shape[:-1], *shape)).astype(dtype)
            for (shape, dtype), a, b in parts
        ]
        return tree_unflatten(self.tree, leaves)


@partial(custom_vjp, nondiff_argnums=(0, 1))
def _solve(func: Any, limits: Limits, y0: Any, ts: Any, args: Any) -> Any:
    """The states, vectors, at all times ``ts``; a cotangent goes through the adjoint equation."""

    def slope(y: Any, t: Any) -> Any:
        return func(y, t, *args)

    f0 = slope(y0, ts[0])
    dt = initial_step_size(slope, ts[0], y0, 4, limits.rtol, limits.atol, f0)
    dt = dnp.minimum(dt, limits.hmax).astype(ts.dtype)
    poly = dnp.stack([*(dnp.zeros_like(y0),) * 4, y0])
    advance = partial(_advance, slope, limits)
    _, ys = lax.scan(advance, (y0, f0, ts[0], dt, ts[0], poly), ts[1:])
    return dnp.concatenate([y0[None], ys])


def _advance(slope: Any, limits: Limits, carry: Any, target: Any) -> tuple[Any, Any]:
    """Steps until ``target`` is passed, and the state there."""

    def is_short(now: Any) -> Any:
        i, (_, _, t, dt, _, _) = now
        return (t < target) & (i < limits.mxstep) & (dt > 0)

    def step(now: Any) -> Any:
        i, (y, f, t, dt, last_t, poly) = now
        y1, f1, error, slopes = runge_kutta_step(slope, y, f, t, dt)
        ratio = mean_error_ratio(error, limits.rtol, limits.atol, y, y1).astype(t.dtype)
        # A step must move the time: shorter ones would be tried for ever.
        least = 4 * dtypes.finfo(t.dtype).eps * dnp.abs(t)
        is_good = (ratio <= 1.0) | (dt <= least)
        next_dt = dnp.clip(optimal_step_size(dt, ratio), least, limits.hmax).astype(t.dtype)
        made = y1, f1, t + dt, next_dt, t, interp_fit_dopri(y, y1, slopes, dt)
        kept = y, f, t, next_dt, last_t, poly
        return i + 1, tuple(dnp.where(is_good, a, b) for a, b in zip(made, kept))

    _, carry = lax.while_loop(is_short, step, (0, carry))
    _, _, t, _, last_t, poly = carry
    at = (target - last_t) / dnp.where(t > last_t, t - last_t, 1)
    is_reached = (last_t <= target) & (target <= t)
    return carry, dnp.where(is_reached, dnp.polyval(poly, at.astype(poly.dtype)), np.nan)


def _forward(func: Any, limits: Limits, y0: Any, ts: Any, args: Any) -> Any:
    ys = _solve(func, limits, y0, ts, args)
    return ys, (ys, ts, args)


def _backward(func: Any, limits: Limits, kept: Any, g: Any) -> Any:
    """The adjoint equation, from the last time to the first.

    Where ``w`` is the cotangent of the state, ``dw/dt = -w df/dy``, and the arguments' grows by
    ``w df/dargs`` in time. It runs in the time ``-t``, which increases.
    """
    ys, ts, args = kept
    leaves, tree = tree_flatten(args)
    is_free = [dtypes.issubdtype(dtypes.result_type(x), np.inexact) for x in leaves]

    def joined(free: Any) -> Any:
        rest = iter(free)
        return tree_unflatten(tree, [next(rest) if m else x for x, m in zip(leaves, is_free)])

    def adjoint(now: Any, s: Any, free: Any) -> Any:
        y, w, _ = now
        dy, pull = vjp(lambda y, free: func(y, -s, *joined(free)), y, free)
        return -dy, *pull(w)

    free = [dnp.asarray(x) for x, m in zip(leaves, is_free) if m]

    def between(carry: Any, now: Any) -> Any:
        w, sums = carry
        y, ct, t, before = now
        w = w + ct
        times = dnp.stack([-t, -before])
        result = odeint(adjoint, (y, w, sums), times, free, **limits._asdict())
        _, w, sums = tree_map(lambda x: x[1], result)
        return (w, sums), (ct * func(y, t, *args)).sum().real

    carry = dnp.zeros_like(ys[0]), [dnp.zeros_like(x) for x in free]
    steps = ys[1:], g[1:], ts[1:], ts[:-1]
    (w, sums), ts_bar = lax.scan(between, carry, steps, reverse=True)
    first = -(w * func(ys[0], ts[0], *args)).sum().real
    rest = iter(sums)
    bars = [next(rest) if m else _none(x) for x, m in zip(leaves, is_free)]
    ts_bar = dnp.concatenate([first[None], ts_bar]).astype(ts.dtype)
    return w + g[0], ts_bar, tree_unflatten(tree, bars)


def _none(x: Any) -> Any:
    """The cotangent of what has no derivatives."""
    return np.zeros(dnp.shape(x), float0)


_solve.defvjp(_forward, _backward)
