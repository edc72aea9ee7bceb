"""Step sizes from estimates of error (Hairer, Nørsett, Wanner: Solving ODEs I, II.4)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

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
