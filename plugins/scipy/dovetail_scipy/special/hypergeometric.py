"""The hypergeometric functions 1F1 and 2F1 of real arguments.

1F1 is computed by its series, for negative x after Kummer's transformation (DLMF 13.2.39), and for
large x by its asymptotic series (DLMF 13.7); 2F1 by its series for 0 <= x <= 1/2, for x < 0 after
Pfaff's transformation (DLMF 15.8.1), and from 1/2 towards 1 by steps of Taylor series, whose
coefficients follow from the differential equation, so that no parameters are special. Derivatives
in the parameters are those of these computations, by forward mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_jit import fused

from .evaluation import Array, ArrayLike, by_forward_mode, differentiable, evaluate
from .gamma_family.gamma_functions import gamma_kernel, gamma_sign, gammaln_kernel
from .series import epsilon, is_single

_LIMIT = 5000


def _sum(ratio: Any, x: Any, majorant: Any) -> Any:
    """1 + t_1 + t_2 + ..., where t_k+1 = t_k * ratio(k), until terms are negligible.

    A term that is 0 ends the series, but not its derivatives in parameters: for these ``majorant``
    bounds the ratios of all their terms; for values it is None.
    """
    eps = 0.5 * epsilon(x)

    def going(state: Any) -> Any:
        return dnp.logical_and(state[0] < _LIMIT, dnp.any(state[-1]))

    def step(state: Any) -> Any:
        k, term, size, total, active = state
        factor = ratio(k)
        growth = lax.abs(factor) if majorant is None else majorant(k)
        term, size = dnp.where(active, term * factor, 0.0), dnp.where(active, size * growth, 0.0)
        total = total + term
        # The terms fall from here on if they do so now by much.
        small = dnp.logical_and(size <= eps * lax.abs(total), growth < 0.95)
        return k + 1.0, term, size, total, dnp.logical_and(active, dnp.logical_not(small))

    one = lax.full_like(x, 1.0)
    return lax.while_loop(going, step, (x.dtype.type(0), one, one, one, one > 0))[3]


def _gauss_sum(a: Any, b: Any, c: Any, x: Any, is_derived: bool) -> Any:
    def ratio(k: Any) -> Any:
        return (a + k) * (b + k) / (c + k) * (x / (k + 1.0))

    def majorant(k: Any) -> Any:
        above = (lax.abs(a + k) + 1.0) * (lax.abs(b + k) + 1.0)
        return above / lax.abs(c + k) * (lax.abs(x) / (k + 1.0))

    return _sum(ratio, x, majorant if is_derived else None)


def _kummer_sum(a: Any, b: Any, x: Any, is_derived: bool) -> Any:
    def ratio(k: Any) -> Any:
        pole = b + k == 0  # only where the series has ended
        return dnp.where(pole, 0.0, (a + k) / dnp.where(pole, 1.0, b + k)) * (x / (k + 1.0))

    def majorant(k: Any) -> Any:
        return (lax.abs(a + k) + 1.0) / lax.abs(b + k) * (lax.abs(x) / (k + 1.0))

    return _sum(ratio, x, majorant if is_derived else None)


def _asymptotic(a: Any, b: Any, x: Any) -> Any:
    """Σ (a)_k (b)_k/(k! x^k), to its least term."""
    total, term = lax.full_like(x, 1.0), lax.full_like(x, 1.0)
    for k in range(12 if is_single(x) else 40):
        following = term * ((a + float(k)) * (b + float(k)) / (x * (k + 1.0)))
        term = dnp.where(lax.abs(following) < lax.abs(term), following, 0.0)
        total = total + term
    return total


def _quotient(b: Any, a: Any) -> Any:
    """``Γ(b)/Γ(a)``, 0 at the poles of Γ(a)."""
    pole = dnp.logical_and(a <= 0, lax.floor(a) == a)
    safe = dnp.where(pole, 1.0, a)
    near = dnp.logical_and(lax.abs(safe) < 25.0, lax.abs(b) < 25.0)
    exact = gamma_kernel(dnp.where(near, b, 1.0)) / gamma_kernel(dnp.where(near, safe, 1.0))
    logs = dnp.where(near, 0.0, gammaln_kernel(b) - gammaln_kernel(safe))
    sign = dnp.where(near, 1.0, gamma_sign(b) * gamma_sign(safe))
    return dnp.where(pole, 0.0, sign * exact * lax.exp(logs))


def _is_polynomial(a: Any, b: Any) -> Any:
    return dnp.logical_or(
        dnp.logical_and(a <= 0, lax.floor(a) == a), dnp.logical_and(b <= 0, lax.floor(b) == b)
    )


def _raw_1f1(a: Any, b: Any, x: Any, is_derived: bool = False) -> Any:
    undefined = dnp.logical_and(b <= 0, lax.floor(b) == b)
    ends = dnp.logical_and(undefined, dnp.logical_and(_is_polynomial(a, a), a >= b))
    first, second, z = (dnp.where(ends, v, 0.0) for v in (a, b, x))
    polynomial = _kummer_sum(first, second, z, False)
    b = dnp.where(undefined, 1.0, b)
    negative = x < 0
    size = lax.abs(x)
    first = dnp.where(negative, b - a, a)
    far = size > 40.0 + 2.0 * lax.abs(a) * lax.abs(b - a) + lax.abs(b)
    z = dnp.where(far, 1.0, size)
    near = _kummer_sum(first, b, z, is_derived)
    # The exponential is left to the end: exp(x) underflows before the product does.
    half = lax.exp(0.5 * dnp.where(negative, -z, 0.0))
    near = half * (half * near)
    y = dnp.where(far, size, 100.0)
    upper, lower = dnp.where(negative, a, b - a), dnp.where(negative, a - b, -a)
    half = lax.exp(0.5 * dnp.where(negative, 0.0, y))
    power = lax.pow(y, dnp.where(negative, -a, a - b))
    bounded = _quotient(b, b - upper) * _asymptotic(upper, 1.0 + lower, y)
    distant = half * (half * power * bounded)
    value = dnp.where(far, distant, near)
    return dnp.where(ends, polynomial, dnp.where(undefined, np.inf, value))


def _1f1_dx(out: Any, a: Any, b: Any, x: Any) -> Any:
    return a / b * hyp1f1_kernel(a + 1.0, b + 1.0, x)


def _derived_1f1(a: Any, b: Any, x: Any) -> Any:
    return _raw_1f1(a, b, x, is_derived=True)


@differentiable(by_forward_mode(_derived_1f1, 0, 3), by_forward_mode(_derived_1f1, 1, 3), _1f1_dx)
def hyp1f1_kernel(a: Any, b: Any, x: Any) -> Any:
    """1F1(a; b; x)."""
    trivial = dnp.logical_or(a == 0, x == 0)
    value = _raw_1f1(dnp.where(trivial, 1.0, a), dnp.where(trivial, 1.0, b), x)
    return dnp.where(trivial, 1.0, dnp.where(x != x, x, value))


def _continued(a: Any, b: Any, c: Any, x: Any, is_derived: bool) -> Any:
    """2F1 for 0 <= x < 1."""
    start = dnp.where(x < 0.5, x, 0.5)
    value = _gauss_sum(a, b, c, start, is_derived)
    slope = a * b / c * _gauss_sum(a + 1.0, b + 1.0, c + 1.0, start, is_derived)
    terms = 28 if is_single(x) else 58

    def step(state: Any) -> Any:
        at, value, slope = state
        h = lax.min(x - at, 0.5 * (1.0 - at))
        p0, p1, q0 = at * (1.0 - at), 1.0 - 2.0 * at, c - (a + b + 1.0) * at
        ratio = h / dnp.where(p0 > 0, p0, 1.0)

        def term(i: Any, inner: Any) -> Any:
            # u and v are the terms of h^n and h^(n+1), and the sums are those of F and h F'.
            n = lax.convert_element_type(i, x.dtype)
            u, v, total, tilt = inner
            w = (n + a) * (n + b) * u * h - (n + 1.0) * (n * p1 + q0) * v
            w = w * ratio / ((n + 1.0) * (n + 2.0))
            return v, w, total + w, tilt + (n + 2.0) * w

        first = slope * h
        inner = lax.fori_loop(0, terms, term, (value, first, value + first, first))
        moved = h > 0
        safe = dnp.where(moved, h, 1.0)
        return at + h, dnp.where(moved, inner[2], value), dnp.where(moved, inner[3] / safe, slope)

    def going(state: Any) -> Any:
        return dnp.any(state[0] < x)

    return lax.while_loop(going, step, (start, value, slope))[1]


def _raw_2f1(a: Any, b: Any, c: Any, x: Any, is_derived: bool = False) -> Any:
    polynomial = _is_polynomial(a, b)
    if is_derived:  # parameters near an integer give no polynomial
        polynomial = dnp.logical_and(polynomial, False)
    safe_a, safe_b, safe_x = (dnp.where(polynomial, v, 0.0) for v in (a, b, x))
    polynomial_value = _gauss_sum(safe_a, safe_b, c, safe_x, False)
    convergent = dnp.logical_and(x < 1, dnp.logical_not(polynomial))
    z = dnp.where(convergent, x, 0.25)
    negative = z < 0
    argument = dnp.where(negative, z / (z - 1.0), z)
    p, q = dnp.where(convergent, a, 1.0), dnp.where(convergent, dnp.where(negative, c - b, b), 1.0)
    r = dnp.where(convergent, c, 2.0)
    # Euler's transformation, DLMF 15.8.1: the remaining factor is bounded at 1.
    steep = p + q > r
    first, second = dnp.where(steep, r - p, p), dnp.where(steep, r - q, q)
    argument = lax.min(argument, lax.full_like(x, 1 - epsilon(x) / 2))
    value = _continued(first, second, r, argument, is_derived)
    exponent = dnp.where(steep, r - p - q, 0.0)
    exponent = dnp.where(negative, -p - exponent, exponent)
    factor = lax.pow(1.0 - z, exponent)
    return dnp.where(polynomial, polynomial_value, dnp.where(convergent, factor * value, np.nan))


def _2f1_dx(out: Any, a: Any, b: Any, c: Any, x: Any) -> Any:
    return a * b / c * hyp2f1_kernel(a + 1.0, b + 1.0, c + 1.0, x)


def _at_one(a: Any, b: Any, c: Any) -> Any:
    """Γ(c) Γ(c-a-b)/(Γ(c-a) Γ(c-b)), DLMF 15.4.20; infinite unless c > a + b."""
    d = c - a - b
    safe = dnp.where(d > 0, d, 1.0)
    value = _quotient(c, c - a) * _quotient(safe, c - b)
    return dnp.where(d > 0, value, np.inf)


def _derived_2f1(a: Any, b: Any, c: Any, x: Any) -> Any:
    return _raw_2f1(a, b, c, x, is_derived=True)


@differentiable(*[by_forward_mode(_derived_2f1, i, 4) for i in range(3)], _2f1_dx)
def hyp2f1_kernel(a: Any, b: Any, c: Any, x: Any) -> Any:
    """2F1(a, b; c; x)."""
    trivial = dnp.logical_or(dnp.logical_or(a == 0, b == 0), x == 0)
    undefined = dnp.logical_and(c <= 0, lax.floor(c) == c)
    third = dnp.where(dnp.logical_or(trivial, undefined), 1.0, c)
    value = _raw_2f1(dnp.where(trivial, 0.0, a), b, third, dnp.where(trivial, 0.0, x))
    polynomial = _is_polynomial(a, b)
    end = dnp.logical_and(x == 1, dnp.logical_not(polynomial))
    value = dnp.where(end, _at_one(a, b, third), value)
    value = dnp.where(dnp.logical_and(x > 1, dnp.logical_not(polynomial)), np.nan, value)
    value = dnp.where(undefined, np.inf, value)
    return dnp.where(trivial, 1.0, value)


@fused()
def hyp1f1(a: ArrayLike, b: ArrayLike, x: ArrayLike) -> Array:
    """The confluent hypergeometric function 1F1 of real arguments.

    1 for ``a = 0``. For integers ``b <= 0`` it is infinite, unless ``a`` is an integer with
    ``b <= a <= 0``, where the series ends before it divides by zero, as SciPy has it. It has
    derivatives of any order in all arguments. Large parameters of opposite signs make the terms of
    its series cancel.
    """
    return evaluate("hyp1f1", hyp1f1_kernel, a, b, x)


@fused()
def hyp2f1(a: ArrayLike, b: ArrayLike, c: ArrayLike, x: ArrayLike) -> Array:
    """The hypergeometric function 2F1 of real arguments, for ``x <= 1``.

    For ``x > 1`` it is NaN, unless ``a`` or ``b`` is an integer <= 0, where it is a polynomial; it
    is infinite for integers ``c <= 0``. It has derivatives of any order in all arguments. Large
    parameters of opposite signs make the terms of its series cancel.
    """
    return evaluate("hyp2f1", hyp2f1_kernel, a, b, c, x)
