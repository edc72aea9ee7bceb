"""The Dirichlet distribution: of positive numbers whose sum is 1."""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact
from .saddle_points import log_poisson, stirling_error

__all__ = ["logpdf", "pdf"]


@fused()
def logpdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The logarithm of the probability density of the Dirichlet distribution.

    Args:
        x: points, along the first axis; the last coordinate may be left out.
        alpha: a vector of positive parameters.

    Returns: minus infinity where ``x`` has another sum, up to rounding; nan for parameters of no
    distribution.

    Raises:
        TypeError: an argument is no array.
        ValueError: shapes do not fit.
    """
    return _log_density("dirichlet.logpdf", x, alpha)


@fused()
def pdf(x: ArrayLike, alpha: ArrayLike) -> Array:
    """The probability density of the Dirichlet distribution, as :func:`logpdf`."""
    return lax.exp(_log_density("dirichlet.pdf", x, alpha))


def _log_density(name: str, x: Any, alpha: Any) -> Any:
    x, alpha = inexact(name, x, alpha)
    if alpha.ndim != 1 or x.ndim < 1 or alpha.shape[0] - x.shape[0] not in (0, 1):
        raise ValueError(
            f"{name}: alpha must be a vector, and x have as many entries on its first axis, or one "
            f"fewer; got shapes {x.shape} and {alpha.shape}{here()}"
        )
    if x.shape[0] < alpha.shape[0]:
        x = dnp.concatenate([x, 1.0 - x.sum(0, keepdims=True)])
    single = float(dnp.finfo(x.dtype).eps) > 1e-10
    on_simplex = dnp.all(x >= 0, 0) & (lax.abs(x.sum(0) - 1.0) <= (1e-5 if single else 1e-9))
    n, total = alpha.shape[0], alpha.sum()
    alpha = alpha.reshape(n, *(1,) * (x.ndim - 1))
    inner = dnp.where(on_simplex, x, 1.0 / n)
    # Poisson's probabilities of alpha - 1 with means in proportion to x, and the remainders.
    each = log_poisson(*dnp.broadcast_arrays(alpha - 1.0, total * inner))
    lacking = stirling_error(total) + (n - 0.5) * lax.log(total) + 0.5 * log(2 * pi)
    out = dnp.where(on_simplex, each.sum(0) + lacking, -dnp.inf)
    wrong = ~dnp.all(alpha > 0) | dnp.any(dnp.isnan(x), 0)
    return dnp.where(wrong, dnp.nan, out)
