"""The zeta function of Hurwitz and Riemann, and the derivatives of the gamma function's logarithm."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


def zeta(x: ArrayLike, q: ArrayLike | None = None) -> Array:
    """The zeta function of Hurwitz, the sum of ``(n + q)**-x`` over n = 0, 1, ...

    Args:
        q: None for 1, the zeta function of Riemann.
    """
    return _zeta(x, 1.0 if q is None else q)


@fused()
def _zeta(x: Any, q: Any) -> Any:
    return evaluate("zeta", lax.zeta, x, q)


@fused()
def digamma(x: ArrayLike) -> Array:
    """The derivative of :func:`gammaln`."""
    return evaluate("digamma", lax.digamma, x)


@fused()
def polygamma(n: ArrayLike, x: ArrayLike) -> Array:
    """The ``n``-th derivative of :func:`digamma`.

    Raises:
        TypeError: ``n`` is not of integers.
    """
    n = dnp.asarray(n)
    if n.dtype.kind not in "iu":
        raise TypeError(
            f"polygamma: the order n must be of integers, got {n.dtype.name}{here()}. Convert it "
            "with astype(int)."
        )
    return evaluate("polygamma", lax.polygamma, n, x)
