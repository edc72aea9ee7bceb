"""Bernoulli numbers."""

from __future__ import annotations

import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import cached, here

from .evaluation import Array


@cached
def _numbers(n: int) -> tuple[float, ...]:
    """B(0) to B(n) from tangent numbers, which are integers (Brent and Harvey, 2011)."""
    half = n // 2
    tangent = [0, 1] + [0] * max(half - 1, 0)
    for k in range(2, half + 1):
        tangent[k] = (k - 1) * tangent[k - 1]
    for k in range(2, half + 1):
        for j in range(k, half + 1):
            tangent[j] = (j - k) * tangent[j - 1] + (j - k + 2) * tangent[j]
    result = [1.0, -0.5] + [0.0] * max(n - 1, 0)
    for k in range(1, half + 1):
        numerator, denominator = 2 * k * tangent[k], 4**k * (4**k - 1)
        try:
            size = numerator / denominator
        except OverflowError:
            size = float("inf")
        result[2 * k] = size if k % 2 else -size
    return tuple(result[: n + 1])


def bernoulli(n: int) -> Array:
    """The Bernoulli numbers B(0) to B(n), where B(1) is -1/2, correctly rounded.

    Returns: an array of ``n + 1`` numbers of the default floating-point type.

    Raises:
        TypeError: ``n`` is not an integer known while tracing.
        ValueError: ``n`` is negative.
    """
    n = integer("bernoulli: n", n)
    if n < 0:
        raise ValueError(f"bernoulli: n must not be negative, got {n}{here()}")
    return dnp.asarray(_numbers(n))
