"""Associated Legendre functions of orders and degrees up to a maximum; spherical harmonics.

They have the phase of Condon and Shortley, for arguments between -1 and 1. The derivative is
infinite at ±1 where the order is 1. ``lpmn`` and ``lpmn_values`` are deprecated, as in JAX.
"""

from __future__ import annotations

import warnings
from math import pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import Tracer, here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


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
    """A list by degree of the functions of orders 0 to ``degrees``.

    The function whose order is the degree is its predecessor times ``-sqrt(1 - z²)`` and a number;
    those of smaller orders follow from the two degrees before.
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
    """The coefficients of z times the previous degree and of the one before, by order."""
    n, m = float(degree), np.arange(degree)[:, None]
    if not normalized:
        return (2.0 * n - 1.0) / (n - m), (n + m - 1.0) / (n - m)
    first = np.sqrt((4.0 * n * n - 1.0) / (n * n - m * m))
    factor = ((n - 1.0) ** 2 - m * m) / (4.0 * (n - 1.0) ** 2 - 1.0)
    return first, first * np.sqrt(np.maximum(factor, 0.0))


def _constant(values: np.ndarray, like: Any) -> Any:
    return dnp.asarray(values, like.dtype)


def sph_harm_y(
    n: ArrayLike,
    m: ArrayLike,
    theta: ArrayLike,
    phi: ArrayLike,
    diff_n: int | None = None,
    n_max: int | None = None,
) -> Array:
    """The spherical harmonics of degree ``n`` and order ``m``, orthonormal on the sphere.

    ``sqrt((2n+1)/(4π) (n-m)!/(n+m)!) P(n, m, cos(theta)) exp(1j * m * phi)``, with the phase of
    Condon and Shortley in P. Differentiated in the angles.

    Args:
        n: degrees, integers >= 0.
        m: orders, integers with ``abs(m) <= n``.
        theta: polar angles, from 0 to π.
        phi: azimuthal angles.
        diff_n: not supported; take derivatives with ``jvp`` or ``grad``.
        n_max: the greatest degree, which must be given where ``n`` is traced; greater degrees are
            taken for it.

    Returns: complex numbers, of the shape to which the arguments broadcast.

    Raises:
        NotImplementedError: ``diff_n`` is given.
        TypeError: ``n`` or ``m`` is not of integers, or ``n`` is traced and ``n_max`` not given.
    """
    if diff_n is not None:
        raise NotImplementedError(
            f"sph_harm_y: diff_n is not supported{here()}. Take derivatives with jvp or grad."
        )
    if n_max is None:
        n_max = _greatest(n)
    n, m = dnp.asarray(n), dnp.asarray(m)
    for what, x in (("n", n), ("m", m)):
        if x.dtype.kind not in "iu":
            raise TypeError(
                f"sph_harm_y: {what} must be of integers, got {x.dtype.name}{here()}. Convert it "
                "with astype(int)."
            )
    return _harmonics(n, m, theta, phi, degrees=max(integer("sph_harm_y: n_max", n_max), 0))


def _greatest(n: Any) -> int:
    """The greatest degree of concrete values."""
    if isinstance(n, Tracer):
        raise TypeError(
            f"sph_harm_y: n is traced, so that its greatest value is not known{here()}. Pass n_max."
        )
    return int(np.max(np.asarray(n), initial=0))


@fused(static=("degrees",))
def _harmonics(n: Any, m: Any, theta: Any, phi: Any, *, degrees: int) -> Any:
    def value(theta: Any, phi: Any, n: Any, m: Any) -> Any:
        order = lax.abs(m)
        degree = lax.min(n, lax.full_like(n, degrees))
        legendre = _legendre(degree, order, theta, degrees)
        odd = order - 2.0 * lax.floor(order * 0.5) != 0
        legendre = dnp.where(dnp.logical_and(m < 0, odd), -legendre, legendre)
        angle = m * phi
        return lax.complex(legendre * lax.cos(angle), legendre * lax.sin(angle))

    return evaluate("sph_harm_y", value, theta, phi, n, m)


def _legendre(n: Any, m: Any, theta: Any, degrees: int) -> Any:
    """The normalized associated Legendre function of degree n and order m >= 0 of cos(theta).

    It is computed upwards in the degree, from degree m, where it is a power of the sine.
    """
    cosine, sine = lax.cos(theta), lax.sin(theta)

    def step(k: Any, state: Any) -> Any:
        before, value = state
        k = lax.convert_element_type(k, theta.dtype)
        diagonal = -sine * value * dnp.sqrt(1.0 + 0.5 / k)
        above = k > m
        top, bottom = dnp.where(above, k, m + 1.0), m
        gap = top * top - bottom * bottom
        scale = lax.sqrt((4.0 * top * top - 1.0) / gap)
        second = lax.max((top - 1.0) ** 2 - bottom * bottom, lax.full_like(top, 0.0))
        factor = lax.sqrt(second / (4.0 * (top - 1.0) ** 2 - 1.0))
        following = scale * (cosine * value - factor * before)
        now = dnp.where(above, following, diagonal)
        done = k > n
        return dnp.where(done, before, dnp.where(above, value, 0.0)), dnp.where(done, value, now)

    start = (lax.full_like(theta, 0.0), lax.full_like(theta, sqrt(0.25 / pi)))
    return lax.fori_loop(1, degrees + 1, step, start)[1]
