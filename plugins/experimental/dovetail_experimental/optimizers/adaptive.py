"""Optimizers whose steps adapt to the size of past gradients, element by element."""

from __future__ import annotations

from functools import reduce
from typing import Any

import dovetail_numpy as dnp

from .schedules import make_schedule
from .state import optimizer


@optimizer
def adagrad(step_size: Any, momentum: Any = 0.9) -> Any:
    """Gradients divided by the root of the sum of their squares (Duchi et al., 2011)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, mean = state
        squares = squares + dnp.square(g)
        mean = (1 - momentum) * (g * _inverse_root(squares)) + momentum * mean
        return x - size(i) * mean, squares, mean

    return _init(2), update, _first


@optimizer
def rmsprop(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8) -> Any:
    """Gradients divided by the root of a running mean of their squares."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares = state
        squares = squares * gamma + dnp.square(g) * (1 - gamma)
        return x - size(i) * g / dnp.sqrt(squares + eps), squares

    return _init(1), update, _first


@optimizer
def rmsprop_momentum(step_size: Any, gamma: Any = 0.9, eps: Any = 1e-8, momentum: Any = 0.9) -> Any:
    """:func:`rmsprop` with momentum."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, squares, velocity = state
        squares = squares * gamma + dnp.square(g) * (1 - gamma)
        velocity = momentum * velocity + size(i) * g / dnp.sqrt(squares + eps)
        return x - velocity, squares, velocity

    return _init(2), update, _first


@optimizer
def adam(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Running means of gradients and of their squares, freed of bias (Kingma and Ba, 2014)."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, squares = state
        mean = (1 - b1) * g + b1 * mean
        squares = (1 - b2) * dnp.square(g) + b2 * squares
        unbiased = mean / (1 - dnp.asarray(b1, mean.dtype) ** (i + 1))
        spread = squares / (1 - dnp.asarray(b2, mean.dtype) ** (i + 1))
        return x - size(i) * unbiased / (dnp.sqrt(spread) + eps), mean, squares

    return _init(2), update, _first


@optimizer
def adamax(step_size: Any, b1: Any = 0.9, b2: Any = 0.999, eps: Any = 1e-8) -> Any:
    """Adam with a fading maximum instead of the mean of squares."""
    size = make_schedule(step_size)

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, largest = state
        mean = (1 - b1) * g + b1 * mean
        largest = dnp.maximum(b2 * largest, dnp.abs(g))
        unbiased = size(i) / (1 - dnp.asarray(b1, mean.dtype) ** (i + 1))
        return x - unbiased * mean / (largest + eps), mean, largest

    return _init(2), update, _first


@optimizer
def sm3(step_size: Any, momentum: Any = 0.9) -> Any:
    """Adagrad in little memory: sums of squares for each index of each axis (Anil et al., 2019)."""
    size = make_schedule(step_size)

    def init(x: Any) -> Any:
        shape = dnp.shape(x) or (1,)
        return x, dnp.zeros_like(x), [dnp.zeros(n, dnp.result_type(x)) for n in shape]

    def update(i: Any, g: Any, state: Any) -> Any:
        x, mean, sums = state
        n = len(sums)
        others = [tuple(j for j in range(n) if j != k) for k in range(n)]
        spread = [dnp.expand_dims(s, axes) for s, axes in zip(sums, others)]
        squares = reduce(dnp.minimum, spread) + dnp.square(g)
        scaled = dnp.reshape(_inverse_root(squares), dnp.shape(g))
        mean = (1 - momentum) * (g * scaled) + momentum * mean
        sums = [squares.max(axes) for axes in others]
        return x - size(i) * mean, mean, sums

    return init, update, _first


def _init(n: int) -> Any:
    """A state of the parameter and ``n`` arrays like it."""
    return lambda x: (x, *(dnp.zeros_like(x) for _ in range(n)))


def _first(state: Any) -> Any:
    return state[0]


def _inverse_root(x: Any) -> Any:
    """``1 / sqrt(x)``; 0 where nothing was summed up yet."""
    return dnp.where(x > 0, 1.0 / dnp.sqrt(dnp.where(x > 0, x, 1.0)), 0.0)
