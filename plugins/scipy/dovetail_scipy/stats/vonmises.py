"""The von Mises distribution: of angles."""

from __future__ import annotations

from math import pi
from typing import Any

import dovetail_lax as lax

from ..arguments import ArrayLike
from ..special import i0e
from .families import Arguments, Continuous

__all__ = ["logpdf", "pdf"]


def vonmises(x: ArrayLike, kappa: ArrayLike) -> Arguments:
    """the von Mises distribution of concentration ``kappa``"""
    return Arguments(x, (kappa,))


def _log_density(z: Any, kappa: Any) -> Any:
    sine = lax.sin(0.5 * z)
    return -2.0 * kappa * sine * sine - lax.log(2 * pi * i0e(kappa))


_vonmises = Continuous(vonmises, valid=lambda kappa: kappa >= 0)
logpdf, pdf = _vonmises.densities(_log_density)
