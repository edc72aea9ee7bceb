"""Gradient descent, with and without momentum."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp

from .schedules import make_schedule
from .state import optimizer


@optimizer
def sgd(step_size: Any) -> Any:
    """Gradient descent. ``step_size`` is a number or a schedule."""
    size = make_schedule(step_size)

    def init(x: Any) -> Any:
        return x

    def update(i: Any, g: Any, x: Any) -> Any:
        return x - size(i) * g

    return init, update, init


@optimizer
def momentum(step_size: Any, mass: Any) -> Any:
    """Descent along a sum of gradients in which old ones fade by the factor ``mass`` each step."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * velocity, velocity

    return _zero_velocity, update, _position


@optimizer
def nesterov(step_size: Any, mass: Any) -> Any:
    """Momentum that looks one step ahead (Nesterov's)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, velocity = state
        velocity = mass * velocity + g
        return x - size(i) * (mass * velocity + g), velocity

    return _zero_velocity, update, _position


def _zero_velocity(x: Any) -> Any:
    return x, dnp.zeros_like(x)


def _position(state: Any) -> Any:
    return state[0]
