"""Associated Legendre functions of all orders and degrees up to a greatest one.

With the phase of Condon and Shortley, for arguments between -1 and 1. The derivative is infinite at
±1 where the order is 1. JAX deprecates these names, and so do we.
"""

from __future__ import annotations

import warnings
from math import pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import here
from dovetail_jit import fused

from .evaluation import Array


def lpmn_values(m: int, n: int, z: Array, is_normalized: bool) -> Array:
    """Associated Legendre functions of all orders and degrees from 0 to ``n``.

    Args:
        m: the greatest order, equal to ``n``.
        n: the greatest degree.
        z: float32 or float64 [k], from -1 to 1.
        is_normalized: times ``sqrt((2l+1)/(4π) (l-m)!/(l+m)!)``, which makes spherical harmonics
            orthonormal.

    Returns: [n + 1, n + 1, k], by order, degree and argument; zero where the order is the greater.

    Raises:
        NotImplementedError: ``m`` and ``n`` differ.
        TypeError: ``z`` is not of float32 or float64.
        ValueError: ``z`` is not a vector.
    """
    z = _checked("lpmn_values", m, n, z)
    return _values(z, degrees=int(n), normalized=bool(is_normalized))


def lpmn(m: int, n: int, z: Array) -> tuple[Array, Array]:
    """Associated Legendre functions of all orders and degrees from 0 to ``n``, and derivatives.

    Returns: two arrays [n + 1, n + 1, k] like that of :func:`lpmn_values`, not normalized.

    Raises: as :func:`lpmn_values` does.
    """
    z = _checked("lpmn", m, n, z)
    return _with_derivatives(z, degrees=int(n))


def _checked(name: str, m: int, n: int, z: Any) -> Any:
    text = f"{name} is deprecated; sph_harm_y has spherical harmonics"
    warnings.warn(text, DeprecationWarning, stacklevel=3)
    z = dnp.asarray(z)
    if z.dtype not in (np.dtype("float32"), np.dtype("float64")):
        raise TypeError(
            f"{name}: z must be of float32 or float64, got {z.dtype.name}{here()}. Convert it with "
            "astype."
        )
    if z.ndim != 1:
        raise ValueError(f"{name}: z must be a vector, got shape {z.shape}{here()}. Ravel it.")
    if integer(f"{name}: m", m) != integer(f"{name}: n", n) or n < 0:
        raise NotImplementedError(
            f"{name}: m and n must be equal, and not negative, got {m} and {n}{here()}. Take the "
            "greater one of them for both and slice."
        )
    return z


@fused(static=("degrees", "normalized"))
def _values(z: Any, *, degrees: int, normalized: bool) -> Any:
    return dnp.stack(_columns(z, degrees, normalized), 1)


@fused(static=("degrees",))
def _with_derivatives(z: Any, *, degrees: int) -> Any:
    columns = _columns(z, degrees, False)
    order = np.arange(degrees + 1)[:, None]
    derivatives = [lax.full_like(columns[0], 0.0)]
    for degree in range(1, degrees + 1):
        factor = _constant(np.where(order <= degree, degree + order, 0), z)
        top = factor * columns[degree - 1] - degree * z * columns[degree]
        derivatives.append(top / (1.0 - z * z))
    return dnp.stack(columns, 1), dnp.stack(derivatives, 1)


def _columns(z: Any, degrees: int, normalized: bool) -> list[Any]:
    """By degree: the functions of orders 0 to ``degrees``.

    That whose order is the degree is its predecessor times ``-sqrt(1 - z²)`` and a number; those of
    smaller orders follow from the two degrees before.
    """
    sine = lax.sqrt(1.0 - z * z)
    diagonal = lax.full_like(z, sqrt(0.25 / pi) if normalized else 1.0)
    columns = [diagonal[None]]
    for degree in range(1, degrees + 1):
        diagonal = -_along_diagonal(degree, normalized) * sine * diagonal
        first, second = _recurrence(degree, normalized)
        column = _constant(first, z) * z * columns[-1]
        if degree > 1:
            before = dnp.pad(columns[-2], ((0, 1), (0, 0)))
            column = column - _constant(second, z) * before
        columns.append(lax.concatenate([column, diagonal[None]], 0))
    return [dnp.pad(c, ((0, degrees - i), (0, 0))) for i, c in enumerate(columns)]


def _along_diagonal(degree: int, normalized: bool) -> float:
    return sqrt(1.0 + 0.5 / degree) if normalized else 2.0 * degree - 1.0


def _recurrence(degree: int, normalized: bool) -> tuple[np.ndarray, np.ndarray]:
    """By order below ``degree``: what z times the degree before counts, and the one before that."""
    n, m = float(degree), np.arange(degree)[:, None]
    if not normalized:
        return (2.0 * n - 1.0) / (n - m), (n + m - 1.0) / (n - m)
    first = np.sqrt((4.0 * n * n - 1.0) / (n * n - m * m))
    behind = ((n - 1.0) ** 2 - m * m) / (4.0 * (n - 1.0) ** 2 - 1.0)
    return first, first * np.sqrt(np.maximum(behind, 0.0))


def _constant(values: np.ndarray, like: Any) -> Any:
    return dnp.asarray(values, like.dtype)
