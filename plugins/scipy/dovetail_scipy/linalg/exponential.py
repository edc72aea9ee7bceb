"""The matrix exponential by scaling and squaring, and its derivative.

A. Al-Mohy, N. Higham, "A new scaling and squaring algorithm for the matrix exponential" (2009).
"""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import jvp
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import cached, here
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes

from ..arguments import Array, ArrayLike
from .arguments import identity_like, matmul, square

# In single and in double precision: the degree of the Padé approximant, and the norm up to which
# its backward error is a rounding.
_SINGLE, _DOUBLE = (7, 3.925724783138660), (13, 4.25)

_INFINITE = 16384
"""The exponent that is used for matrices that are not finite."""


@reword_errors
@one_call("upper_triangular", "max_squarings")
def expm(A: ArrayLike, *, upper_triangular: bool = False, max_squarings: int = 16) -> Array:
    """The exponential of matrices.

    Args:
        A: matrices of shape ``(..., n, n)``.
        upper_triangular: they are upper triangular, which is faster.
        max_squarings: the greatest number of squarings of the result of the scaled matrix; if more
            are needed, because elements are too large, results are NaN.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits, or an integer.
        ValueError: the matrices are not square.
    """
    (x,) = square("expm", A)
    most = arguments.integer("max_squarings", max_squarings)
    return _expm(x, triangular=bool(upper_triangular), most=most)


@reword_errors
def expm_frechet(
    A: ArrayLike, E: ArrayLike, *, method: str | None = None, compute_expm: bool = True
) -> Any:
    """The derivative of :func:`expm` at ``A`` in direction ``E``.

    Args:
        A, E: matrices of one shape ``(..., n, n)``.
        method: accepted for compatibility.
        compute_expm: return ``(expm(A), derivative)``; otherwise the derivative alone.

    Raises:
        ValueError: the matrices are not square, or of different shapes.
    """
    x, e = square("expm_frechet", A, E)
    if x.shape != e.shape:
        raise ValueError(
            f"expm_frechet: A and E must have one shape, got {x.shape} and {e.shape}{here()}"
        )
    result = _frechet(x, e)
    return result if compute_expm else result[1]


@fused()
def _frechet(a: Any, e: Any) -> tuple[Any, Any]:
    return jvp(lambda x: _expm(x, triangular=False, most=16), (a,), (e,))


@fused(static=("triangular", "most"))
def _expm(a: Any, triangular: bool, most: int) -> Any:
    if 0 in a.shape:
        return a
    degree, theta = _DOUBLE if dtypes.finfo(a.dtype).nmant > 24 else _SINGLE
    # Powers of B = A / 2ᵏ, of norm at most 1, cannot overflow; A / 2ˢ = B 2ᵏ⁻ˢ.
    k = _exponent(_norm(a))
    b = _scaled(a, -k)
    powers = {2: matmul(b, b)}
    powers[4] = matmul(powers[2], powers[2])
    powers[6] = matmul(powers[4], powers[2])
    s = _scalings(b, powers, k, degree, theta)
    scaled = {p: _scaled(x, p * (k - s)) for p, x in powers.items()}
    r = _pade(_scaled(a, -s), scaled, degree, triangular)
    return _squared(r, s, most)


def _norm(x: Any) -> Any:
    """The greatest sum of absolute values of a column."""
    return dnp.max(dnp.sum(dnp.abs(lax.stop_gradient(x)), axis=-2), axis=-1)


def _exponent(x: Any) -> Any:
    """The least ``k >= 0`` with ``x <= 2ᵏ``; huge where there is none."""
    k = dnp.ceil(dnp.log2(x))
    return dnp.astype(dnp.where(dnp.isfinite(x), dnp.maximum(k, 0), _INFINITE), np.int32)


def _scaled(x: Any, k: Any) -> Any:
    """``x 2ᵏ``, exactly."""
    if x.dtype.kind == "c":
        return lax.complex(_scaled(dnp.real(x), k), _scaled(dnp.imag(x), k))
    # 2ᵏ alone may overflow; beyond its square there are zeros only (powers of such matrices).
    most, one = int(dtypes.finfo(x.dtype).maxexp) - 2, dnp.ones((), x.dtype)
    for part in (k // 2, k - k // 2):
        x = x * dnp.ldexp(one, dnp.clip(part, -most, most))[..., None, None]
    return x


def _scalings(b: Any, powers: dict[int, Any], k: Any, degree: int, theta: float) -> Any:
    """The number of times to halve the matrix, so that the approximant is exact to rounding.

    It is found from norms of powers, which may be far less than powers of the norm.
    """
    eighth, tenth = matmul(powers[4], powers[4]), matmul(powers[4], powers[6])
    sixth, eighth, tenth = (
        _norm(x) ** (1 / p) for x, p in ((powers[6], 6), (eighth, 8), (tenth, 10))
    )
    least = dnp.minimum(dnp.maximum(sixth, eighth), dnp.maximum(eighth, tenth))
    wanted = dnp.log2(least / theta) + dnp.astype(k, least.dtype)
    s = dnp.where(dnp.isfinite(wanted), dnp.maximum(dnp.ceil(wanted), 0), 0)
    s = dnp.where(k == _INFINITE, k, dnp.astype(s, np.int32))
    # The first term of the backward error that norms of powers do not bound: c |A|²ᵐ⁺¹.
    sizes = dnp.abs(lax.stop_gradient(b))
    total = dnp.ones_like(sizes[..., :1, :])
    total = lax.fori_loop(0, 2 * degree + 1, lambda _, x: matmul(x, sizes), total)
    norm = dnp.max(total, axis=(-1, -2)) / dnp.maximum(_norm(b), dtypes.finfo(sizes.dtype).tiny)
    term = 1 / (comb(2 * degree, degree) * factorial(2 * degree + 1))
    unit = float(dtypes.finfo(sizes.dtype).eps) / 2
    excess = dnp.log2(norm * (term / unit)) / (2 * degree) + dnp.astype(k - s, norm.dtype)
    more = dnp.where(dnp.isfinite(excess), dnp.maximum(dnp.ceil(excess), 0), 0)
    return s + dnp.astype(more, np.int32)


@cached
def _coefficients(degree: int) -> tuple[float, ...]:
    """The coefficients of the Padé approximant's numerator, of which the first is 1."""
    m = degree
    return tuple(comb(m, j) * factorial(2 * m - j) / factorial(2 * m) for j in range(m + 1))


def _pade(a: Any, powers: dict[int, Any], degree: int, triangular: bool) -> Any:
    c, eye = _coefficients(degree), identity_like(a)
    low = [c[i] * eye + sum(c[i + p] * powers[p] for p in (2, 4, 6) if i + p <= min(degree, 7))
           for i in (0, 1)]  # fmt: skip
    if degree > 7:
        high = [sum(c[i + 6 + p] * powers[p] for p in (2, 4, 6)) for i in (0, 1)]
        low = [x + matmul(powers[6], y) for x, y in zip(low, high)]
    even, odd = low[0], matmul(a, low[1])
    upper, lower = even + odd, even - odd
    if triangular:
        return lax.linalg.triangular_solve(lower, upper, left_side=True, lower=False)
    return dnp.linalg.solve(lower, upper)


def _squared(r: Any, s: Any, most: int) -> Any:
    def step(x: Any, i: Any) -> tuple[Any, None]:
        wanted = i < s
        squared = lax.cond(dnp.any(wanted), lambda: matmul(x, x), lambda: x)
        return dnp.where(wanted[..., None, None], squared, x), None

    x, _ = lax.scan(step, r, np.arange(most, dtype=np.int32))
    return dnp.where((s > most)[..., None, None], dnp.nan, x)
