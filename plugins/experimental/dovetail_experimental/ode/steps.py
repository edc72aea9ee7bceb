"""Steps of the method of Dormand and Prince of orders 5 and 4, and step sizes.

Source: Hairer, Nørsett, Wanner: Solving Ordinary Differential Equations I, II.4.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_numpy as dnp


def abs2(x: Any) -> Any:
    """The square of the absolute value."""
    if dnp.iscomplexobj(x):
        return x.real**2 + x.imag**2
    return x**2


def initial_step_size(
    fun: Callable[[Any, Any], Any], t0: Any, y0: Any, order: int, rtol: Any, atol: Any, f0: Any
) -> Any:
    """A first step: such that explicit Euler's error would be about a hundredth of the tolerance.

    Args:
        fun: the derivative, ``fun(y, t)``.
        order: of the method.
        f0: ``fun(y0, t0)``.
    """
    scale = atol + dnp.abs(y0) * rtol
    size, slope = dnp.linalg.norm(y0 / scale), dnp.linalg.norm(f0 / scale)
    is_tiny = (size < 1e-5) | (slope < 1e-5)
    guess = dnp.where(is_tiny, 1e-6, 0.01 * size / dnp.where(is_tiny, 1.0, slope))
    f1 = fun(y0 + guess.astype(y0.dtype) * f0, t0 + guess)
    bend = dnp.linalg.norm((f1 - f0) / scale) / guess
    is_straight = (slope <= 1e-15) & (bend <= 1e-15)
    largest = dnp.where(is_straight, 1.0, dnp.maximum(slope, bend))
    refined = dnp.where(
        is_straight, dnp.maximum(1e-6, guess * 1e-3), (0.01 / largest) ** (1.0 / (order + 1.0))
    )
    return dnp.minimum(100.0 * guess, refined)


def mean_error_ratio(error_estimate: Any, rtol: Any, atol: Any, y0: Any, y1: Any) -> Any:
    """The root mean square of a step's error, relative to what is tolerated: at most 1 is good."""
    tolerated = atol + rtol * dnp.maximum(dnp.abs(y0), dnp.abs(y1))
    return dnp.sqrt(dnp.mean(abs2(error_estimate / tolerated)))


def optimal_step_size(
    last_step: Any, mean_error_ratio: Any, safety: Any = 0.9, ifactor: Any = 10.0,
    dfactor: Any = 0.2, order: Any = 5.0,
) -> Any:  # fmt: skip
    """The step for which the error would be about what is tolerated.

    It grows by the factor ``ifactor`` at most; it shrinks by ``dfactor`` at most, and only after a
    step that was too large.
    """
    least = dnp.where(mean_error_ratio < 1, 1.0, dfactor)
    is_exact = mean_error_ratio == 0.0
    ratio = dnp.where(is_exact, 1.0, mean_error_ratio)
    factor = dnp.minimum(ifactor, dnp.maximum(ratio ** (-1.0 / order) * safety, least))
    return dnp.where(is_exact, last_step * ifactor, last_step * factor)


# Dormand, Prince: A family of embedded Runge-Kutta formulae (1980). The last stage is the slope at
# the end of the step: the first of the next.
NODES = (1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0)
STAGES = (
    (1 / 5,),
    (3 / 40, 9 / 40),
    (44 / 45, -56 / 15, 32 / 9),
    (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
    (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
    (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
)
FIFTH = np.array([*STAGES[-1], 0.0])
FOURTH = np.array([5179 / 57600, 0.0, 7571 / 16695, 393 / 640, -92097 / 339200, 187 / 2100, 1 / 40])
# The value in the middle, of order 4 (Shampine: Some practical Runge-Kutta formulas, 1986).
MIDDLE = np.array([
    6025192743 / 30085553152, 0.0, 51252292925 / 65400821598, -2691868925 / 45128329728,
    187940372067 / 1594534317056, -1776094331 / 19743644256, 11237099 / 235043384,
]) / 2  # fmt: skip


def runge_kutta_step(
    func: Callable[[Any, Any], Any], y0: Any, f0: Any, t0: Any, dt: Any
) -> tuple[Any, Any, Any, Any]:
    """A step from ``t0`` to ``t0 + dt``.

    Args:
        func: the derivative, ``func(y, t)``.
        y0: the state, a vector.
        f0: ``func(y0, t0)``.

    Returns: the state there, its slope, an estimate of the error, and all slopes, ``(7, n)``.
    """
    step = dt.astype(y0.dtype)
    slopes = [f0]
    y1 = y0
    for node, weights in zip(NODES, STAGES):
        y1 = y0 + step * _weighted(weights, slopes)
        slopes.append(func(y1, t0 + dt * node))
    error = step * _weighted(FIFTH - FOURTH, slopes)
    return y1, slopes[-1], error, dnp.stack(slopes)


def interp_fit_dopri(y0: Any, y1: Any, k: Any, dt: Any) -> Any:
    """The polynomial of degree 4 that goes through a step: see :func:`fit_4th_order_polynomial`.

    Args:
        y0, y1: the states before and after.
        k: all slopes, ``(7, n)``.
    """
    y_mid = y0 + dt.astype(y0.dtype) * _weighted(MIDDLE, list(k))
    return dnp.stack(fit_4th_order_polynomial(y0, y1, y_mid, k[0], k[-1], dt))


def fit_4th_order_polynomial(
    y0: Any, y1: Any, y_mid: Any, dy0: Any, dy1: Any, dt: Any
) -> tuple[Any, Any, Any, Any, Any]:
    """The polynomial of degree 4 on [0, 1] with given values at 0, 1/2, 1 and slopes at the ends.

    Slopes are those in time, of which the interval has ``dt``. Coefficients come highest first.
    """
    step = dnp.asarray(dt).astype(y0.dtype)
    rise0, rise1 = step * dy0, step * dy1
    # What is left of the values at the middle and the end when the tangent at 0 is taken off.
    middle = y_mid - y0 - rise0 / 2
    end, slope = y1 - y0 - rise0, rise1 - rise0
    a = 16 * middle - 8 * end + 2 * slope
    b = -32 * middle + 14 * end - 3 * slope
    c = 16 * middle - 5 * end + slope
    return a, b, c, rise0, y0


def _weighted(weights: Any, slopes: Any) -> Any:
    return sum(float(w) * k for w, k in zip(weights, slopes) if w)
