"""Spherical harmonics."""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_core import Tracer, here
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, evaluate


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
    """The greatest degree, of values that are known."""
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

    From degree and order m, of which it is a power of the sine, upwards in the degree.
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
        behind = lax.sqrt(second / (4.0 * (top - 1.0) ** 2 - 1.0))
        following = scale * (cosine * value - behind * before)
        now = dnp.where(above, following, diagonal)
        done = k > n
        return dnp.where(done, before, dnp.where(above, value, 0.0)), dnp.where(done, value, now)

    start = (lax.full_like(theta, 0.0), lax.full_like(theta, sqrt(0.25 / pi)))
    return lax.fori_loop(1, degrees + 1, step, start)[1]
