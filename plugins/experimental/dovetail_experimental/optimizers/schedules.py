"""Step sizes as functions of the step's number."""

from __future__ import annotations

from typing import Any, cast

import dovetail_numpy as dnp
from dovetail_core import here

from .state import Schedule


def constant(step_size: Any) -> Schedule:
    """Always ``step_size``."""
    return lambda i: step_size


def exponential_decay(step_size: Any, decay_steps: Any, decay_rate: Any) -> Schedule:
    """``step_size * decay_rate ** (i / decay_steps)``."""
    return lambda i: step_size * decay_rate ** (i / decay_steps)


def inverse_time_decay(
    step_size: Any, decay_steps: Any, decay_rate: Any, staircase: bool = False
) -> Schedule:
    """``step_size / (1 + decay_rate * i / decay_steps)``.

    If ``staircase``, ``i / decay_steps`` is rounded down.
    """
    if staircase:
        return lambda i: step_size / (1 + decay_rate * dnp.floor(i / decay_steps))
    return lambda i: step_size / (1 + decay_rate * i / decay_steps)


def polynomial_decay(
    step_size: Any, decay_steps: Any, final_step_size: Any, power: Any = 1.0
) -> Schedule:
    """From ``step_size`` to ``final_step_size``, where it stays from ``decay_steps`` on."""

    def schedule(i: Any) -> Any:
        left = (1 - dnp.minimum(i, decay_steps) / decay_steps) ** power
        return left * (step_size - final_step_size) + final_step_size

    return schedule


def piecewise_constant(boundaries: Any, values: Any) -> Schedule:
    """``values[k]`` where ``k`` of the boundaries are below the step's number.

    Raises:
        ValueError: either is no sequence, or there is not one value more than boundaries.
    """
    limits, sizes = dnp.array(boundaries), dnp.array(values)
    if not limits.ndim == sizes.ndim == 1:
        raise ValueError(
            "piecewise_constant: boundaries and values must be sequences of numbers, got shapes "
            f"{limits.shape} and {sizes.shape}{here()}"
        )
    if sizes.shape[0] != limits.shape[0] + 1:
        raise ValueError(
            "piecewise_constant: there must be one value more than boundaries, got "
            f"{limits.shape[0]} boundaries and {sizes.shape[0]} values{here()}"
        )
    return lambda i: sizes[dnp.sum(i > limits)]


def make_schedule(scalar_or_schedule: Any) -> Schedule:
    """A schedule as it is, a number as a constant one.

    Raises:
        TypeError: it is neither.
    """
    if callable(scalar_or_schedule):
        return cast(Schedule, scalar_or_schedule)
    if isinstance(scalar_or_schedule, str) or dnp.ndim(scalar_or_schedule):
        raise TypeError(
            "a step size must be a number or a function of the step's number, got "
            f"{scalar_or_schedule!r}{here()}"
        )
    return constant(scalar_or_schedule)
