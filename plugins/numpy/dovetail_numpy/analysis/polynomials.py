"""Polynomials as vectors of coefficients, the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import Tracer, here
from dovetail_lax import dtypes

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, integer
from ..operations import filled, number, reshape as to_shape, strong
from ..promotion import INT32, broadcast, broadcast_shapes, convert, promote
from ..ufuncs.arithmetic import ADD, DIVIDE, MULTIPLY, SUBTRACT
from .signal import convolve


@reword_errors
@one_call("unroll")
def polyval(p: ArrayLike, x: ArrayLike, *, unroll: int = 16) -> Array:
    """The polynomial with coefficients ``p`` at ``x``, by Horner's scheme.

    Coefficients of several dimensions are taken along the first; the others broadcast with ``x``.
    """
    c, at = (as_array("polyval", v, i) for i, v in enumerate(promote("polyval", p, x)))
    if c.ndim < 1:
        raise ValueError(f"polyval: coefficients must be a vector, got shape {c.shape}{here()}")
    at = broadcast(at, broadcast_shapes("polyval", c.shape[1:], at.shape))
    if at.dtype.kind == "b":  # computed with integers
        return lax.ne(_polyval(convert(c, INT32), convert(at, INT32)), np.int32(0))
    return strong(_polyval(c, at))


@fused()
def _polyval(p: Any, x: Any) -> Any:
    out = lax.full_like(x, 0)
    for i in range(p.shape[0]):
        row = lax.index_in_dim(p, i, 0, keepdims=False)
        out = lax.add(lax.mul(out, x), broadcast(row, x.shape))
    return out


def _combined(name: str, op: Any, a1: ArrayLike, a2: ArrayLike) -> Array:
    a, b = (as_array(name, v, i) for i, v in enumerate(promote(name, a1, a2)))
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(
            f"{name} takes vectors of coefficients, got shapes {a.shape} and {b.shape}{here()}"
        )
    n = max(a.shape[0], b.shape[0])
    return op(*(lax.pad(v, number(v, 0), [(n - v.shape[0], 0, 0)]) for v in (a, b)))


@reword_errors
def polyadd(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The sum of two polynomials."""
    return _combined("polyadd", ADD, a1, a2)


@reword_errors
def polysub(a1: ArrayLike, a2: ArrayLike) -> Array:
    """The difference of two polynomials."""
    return _combined("polysub", SUBTRACT, a1, a2)


def _trimmed(p: Any) -> Any:
    """``p`` without leading zeros, unless it is traced."""
    if isinstance(p, Tracer):
        return p
    values = np.asarray(p)
    nonzero = np.flatnonzero(values)
    return as_array("polynomial", values[nonzero[0] :] if nonzero.size else values[-1:])


@reword_errors
def polymul(a1: ArrayLike, a2: ArrayLike, *, trim_leading_zeros: bool = False) -> Array:
    """The product of two polynomials."""
    a, b = (
        as_array("polymul", v, i) for i, v in enumerate(promote("polymul", a1, a2, inexact=True))
    )
    if trim_leading_zeros and a.size > 1 and b.size > 1:
        a, b = _trimmed(a), _trimmed(b)
    a, b = (v if v.size else filled(v, (1,), 0) for v in (a, b))  # no coefficients: zero
    return convolve(a, b)


@reword_errors
def polydiv(u: ArrayLike, v: ArrayLike, *, trim_leading_zeros: bool = False) -> tuple[Array, Array]:
    """Quotient and remainder of two polynomials."""
    a, b = (as_array("polydiv", w, i) for i, w in enumerate(promote("polydiv", u, v, inexact=True)))
    if a.ndim != 1 or b.ndim != 1 or not b.size:
        raise ValueError(
            f"polydiv: u and v must be vectors of coefficients, got shapes {a.shape} and {b.shape}"
            f"{here()}"
        )
    n, m = a.shape[0], b.shape[0]
    if n < m:
        return filled(a, (1,), 0), a
    lead = lax.index_in_dim(b, 0, 0, keepdims=False)
    quotient = []
    rest = a
    for i in range(n - m + 1):
        factor = lax.div(lax.index_in_dim(rest, i, 0, keepdims=False), lead)
        quotient.append(factor)
        shifted = lax.pad(lax.mul(b, factor), number(b, 0), [(i, n - m - i, 0)])
        rest = lax.sub(rest, shifted)
    return lax.stack(quotient), _trimmed(rest) if trim_leading_zeros else rest


@reword_errors
def polyder(p: ArrayLike, m: int = 1) -> Array:
    """The ``m``-th derivative of a polynomial."""
    k = integer("polyder", "m", m)
    (c,) = promote("polyder", p, inexact=True)
    c = as_array("polyder", c)
    if c.ndim == 0:
        raise ValueError(f"polyder: p must have the coefficients on an axis, got a scalar{here()}")
    if k < 0:
        raise ValueError(f"polyder: the order must not be negative, got {k}{here()}")
    if k == 0:
        return c
    n = c.shape[0]
    powers = np.arange(n - 1, k - 1, -1)
    factors = np.prod([powers - i for i in range(k)], axis=0) if len(powers) else np.ones(0)
    kept = lax.slice_in_dim(c, 0, max(n - k, 0))
    scale = as_array("polyder", factors.astype(c.dtype))
    return lax.mul(
        kept, broadcast(to_shape(scale, (kept.shape[0],) + (1,) * (c.ndim - 1)), kept.shape)
    )


@reword_errors
def polyint(p: ArrayLike, m: int = 1, k: Any = None) -> Array:
    """The ``m``-th antiderivative of a polynomial, with integration constants ``k``.

    Raises:
        ValueError: ``m`` is negative, or there is neither one constant nor ``m`` of them.
    """
    order = integer("polyint", "m", m)
    # The default constant 0 takes part in promotion: a polynomial of booleans becomes numeric.
    given = 0 if k is None else np.asarray(k) if isinstance(k, (list, tuple)) else k
    c, k = (as_array("polyint", v) for v in promote("polyint", p, given, inexact=True))
    if order < 0:
        raise ValueError(f"polyint: the order must not be negative, got {order}{here()}")
    if order == 0:
        return c
    k = lax.reshape(k, (k.size,))
    k = broadcast(k, (order,)) if k.shape == (1,) else k
    if k.shape != (order,):
        raise ValueError(f"polyint: {k.size} constants for {order} integrations{here()}")
    joined = lax.concatenate([c, k], 0)
    n = joined.shape[0]
    powers = np.arange(n - 1, -1, -1)
    # The coefficient of x^j was divided by j for each integration since it entered.
    steps = np.minimum(order, powers)
    divisors = [np.prod(np.arange(j, j - s, -1), dtype=float) for j, s in zip(powers, steps)]
    return lax.div(joined, as_array("polyint", np.asarray(divisors, c.dtype)))


@reword_errors
def poly(seq_of_zeros: ArrayLike) -> Array:
    """The polynomial with these zeros, or the characteristic polynomial of a matrix.

    Raises:
        ValueError: an array of another shape.
    """
    (z,) = promote("poly", seq_of_zeros, inexact=True)
    z = as_array("poly", z)
    z = z if z.ndim else lax.reshape(z, (1,))
    if z.ndim == 2 and z.shape[0] == z.shape[1] and z.shape[0]:
        from ..linear.decompositions import eigvals

        z = eigvals(z)
    if z.ndim != 1:
        raise ValueError(
            f"poly takes a vector of zeros or a square matrix, got shape {z.shape}{here()}"
        )
    out = filled(z, (1,) if z.shape[0] else (), 1)
    for i in range(z.shape[0]):
        root = lax.slice_in_dim(z, i, i + 1)
        zero = number(z, 0)
        shifted = lax.mul(lax.pad(out, zero, [(1, 0, 0)]), broadcast(root, (i + 2,)))
        out = lax.sub(lax.pad(out, zero, [(0, 1, 0)]), shifted)
    return out


@reword_errors
def roots(p: ArrayLike, *, strip_zeros: bool = True) -> Array:
    """The zeros of a polynomial: eigenvalues of its companion matrix.

    Args:
        strip_zeros: leave out leading zeros, and put trailing ones as zeros at the end; not while
            tracing.

    Raises:
        ValueError: ``p`` is not a vector.
        ConcretizationTypeError: ``p`` is traced and ``strip_zeros`` is not False.
    """
    from ..searching.finding import concrete_value

    (c,) = promote("roots", p, inexact=True)
    c = as_array("roots", c)
    if c.ndim > 1:
        raise ValueError(f"roots takes a vector of coefficients, got shape {c.shape}{here()}")
    c = lax.reshape(c, (c.size,))
    trailing = 0
    if strip_zeros:
        values = concrete_value("roots", c, "Pass strip_zeros=False.")
        nonzero = np.flatnonzero(values)
        if not nonzero.size:
            return lax.full((0,), 0, _complex_of(c.dtype))
        trailing = values.size - 1 - int(nonzero[-1])
        c = lax.slice_in_dim(c, int(nonzero[0]), int(nonzero[-1]) + 1)
    n = c.shape[0] - 1
    if n < 1:
        return lax.full((trailing,), 0, _complex_of(c.dtype))
    out = _companion_roots(c, n)
    return lax.pad(out, number(out, 0), [(0, trailing, 0)])


def _companion_roots(c: Any, n: int) -> Any:
    from ..creation.matrices import eye
    from ..linear.decompositions import eigvals

    first = lax.neg(DIVIDE(lax.slice_in_dim(c, 1, n + 1), lax.slice_in_dim(c, 0, 1)))
    below = eye(n - 1, n, dtype=c.dtype)
    return eigvals(lax.concatenate([lax.reshape(first, (1, n)), below], 0))


def _complex_of(dtype: Any) -> Any:
    return np.dtype(np.complex128 if dtype.itemsize == 8 and dtype.kind != "c" else np.complex64)


@reword_errors
@one_call("deg", "rcond", "full", "cov")
def polyfit(
    x: ArrayLike, y: ArrayLike, deg: int, rcond: float | None = None, full: bool = False,
    w: ArrayLike | None = None, cov: bool | str = False,
) -> Any:  # fmt: skip
    """The polynomial of degree ``deg`` that fits points best in the sense of least squares.

    Args:
        rcond: relative size below which singular values count as zero.
        full: also return residuals, rank, singular values and ``rcond``.
        w: weights of the points. cov: also return the coefficients' covariance.

    Raises:
        ValueError: shapes do not fit, or ``deg`` is negative.
    """
    from ..creation.matrices import vander
    from ..linear.solving import lstsq

    order = integer("polyfit", "deg", deg) + 1
    a, b = (as_array("polyfit", v, i) for i, v in enumerate(promote("polyfit", x, y, inexact=True)))
    if order < 1 or a.ndim != 1 or not a.size or b.ndim not in (1, 2) or a.shape[0] != b.shape[0]:
        raise ValueError(
            f"polyfit: points of shapes {a.shape} and {b.shape} do not fit a polynomial of degree "
            f"{deg}{here()}"
        )
    if rcond is None:
        rcond = a.shape[0] * float(dtypes.finfo(a.dtype).eps)
    lhs, rhs = vander(a, order), b
    if w is not None:
        weights = convert(as_array("polyfit", w, 5), a.dtype)
        lhs = MULTIPLY(lhs, lax.reshape(weights, (a.shape[0], 1)))
        rhs = MULTIPLY(rhs, lax.broadcast_in_dim(weights, b.shape, (0,)))
    scale = lax.sqrt(lax.reduce_sum(lax.mul(lhs, lhs), (0,)))
    c, residuals, rank, singular = lstsq(DIVIDE(lhs, lax.reshape(scale, (1, order))), rhs, rcond)
    c = DIVIDE(c, scale if b.ndim == 1 else lax.reshape(scale, (order, 1)))
    if full:
        return c, residuals, rank, singular, as_array("polyfit", rcond)
    if not cov:
        return c
    return c, _fit_covariance(lhs, residuals, a.shape[0], order, cov, b.ndim)


def _fit_covariance(lhs: Any, residuals: Any, points: int, order: int, cov: Any, ndim: int) -> Any:
    from ..linear.solving import inv

    base = inv(lax.dot(lax.transpose(lhs, (1, 0)), lhs))
    if cov == "unscaled":
        return base
    if points <= order:
        raise ValueError(
            f"polyfit: {points} points are too few to scale the covariance of {order} "
            f"coefficients{here()}"
        )
    factor = DIVIDE(residuals, points - order)
    if ndim == 1:
        return MULTIPLY(base, factor)
    return MULTIPLY(lax.expand_dims(base, (2,)), factor)
