"""Distributions: named tuples of parameters, each element independent of the others.

A class of one's own does as well: fields for the parameters, which broadcast against each other,
and the static methods ``log_prob(x, *parameters)`` and ``draw(key, shape, *parameters)``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dovetail import lax, numpy as dnp, random


class Normal(NamedTuple):
    """The normal distribution."""

    loc: Any
    scale: Any

    @staticmethod
    def log_prob(x: Any, loc: Any, scale: Any) -> Any:
        z = (x - loc) / scale
        return -0.5 * z * z - dnp.log(scale) - 0.5 * np.log(2 * np.pi)

    @staticmethod
    def draw(key: Any, shape: tuple[int, ...], loc: Any, scale: Any) -> Any:
        return loc + scale * random.normal(key, shape, loc.dtype)


class Gamma(NamedTuple):
    """The gamma distribution."""

    concentration: Any
    rate: Any

    @staticmethod
    def log_prob(x: Any, concentration: Any, rate: Any) -> Any:
        kernel = (concentration - 1) * dnp.log(x) - rate * x
        return kernel + concentration * dnp.log(rate) - lax.lgamma(concentration)

    @staticmethod
    def draw(key: Any, shape: tuple[int, ...], concentration: Any, rate: Any) -> Any:
        return random.gamma(key, concentration, shape, concentration.dtype) / rate


class Bernoulli(NamedTuple):
    """1 with a probability, else 0."""

    probability: Any

    @staticmethod
    def log_prob(x: Any, probability: Any) -> Any:
        return dnp.log(dnp.where(x == 1, probability, 1 - probability))

    @staticmethod
    def draw(key: Any, shape: tuple[int, ...], probability: Any) -> Any:
        return random.bernoulli(key, probability, shape).astype(np.int32)
