"""Oracles of laws: finite differences, dot products, stacked loops, and tolerances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core import ShapedArray, is_inexact

Arrays = Sequence[Any]
ArrayFunction = Callable[..., Sequence[Any]]
ROUNDINGS = 8  # of a value of a function that is differenced: those of its operands count as well


def precision(dtype: Any) -> float:
    """The distance from 1 to the next number of a floating-point or complex type."""
    return float(_finfo(np.dtype(dtype)).eps)


def smallest_normal(dtype: Any) -> float:
    """The least positive number of full precision; 0 for integers and bools."""
    dt = np.dtype(dtype)
    return float(_finfo(dt).smallest_normal) if is_inexact(dt) else 0.0


def _finfo(dtype: Any) -> Any:
    real = np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype
    finfo: Any = ml_dtypes.finfo
    return finfo(real)


def tolerance(dtype: Any, factor: float = 64.0) -> float:
    """A relative and absolute tolerance for results of type ``dtype``; 0 for integers and bools."""
    return factor * precision(dtype) if is_inexact(np.dtype(dtype)) else 0.0


def widened(x: Any) -> np.ndarray[Any, Any]:
    """``x`` as float64 or complex128 (integers and booleans stay as they are)."""
    y = np.asarray(x)
    if not is_inexact(y.dtype):
        return y
    return y.astype(np.complex128 if y.dtype.kind == "c" else np.float64)


def assert_same(actual: Any, expected: Any, what: str = "") -> None:
    """Fail unless dtype, shape and every element agree (NaN agrees with NaN)."""
    assert_close(actual, expected, what, factor=0.0)


def assert_close(
    actual: Any, expected: Any, what: str = "", *, factor: float = 64.0, scale: Any = 0.0
) -> None:
    """Fail unless dtype and shape agree, and elements within ``tolerance(dtype, factor)``.

    The tolerance is relative to each element. A result of terms that cancel has the rounding errors
    of the terms: ``scale`` is their size (a number, or one per element), and the tolerance relative
    to it is allowed as well. Integers and bools must be equal. The error names the first element
    that differs.
    """
    x, y = np.asarray(actual), np.asarray(expected)
    where = f" ({what})" if what else ""
    assert x.dtype == y.dtype, f"dtype {x.dtype}, expected {y.dtype}{where}"
    tol = tolerance(x.dtype, factor)
    assert_near(x, y, tol, what, atol=tol * np.asarray(scale))


def assert_same_bits(actual: Any, expected: Any, what: str = "") -> None:
    """Fail unless elements are the same, zeros of one sign included; NaNs are alike."""
    x: Any = np.asarray(actual)
    y: Any = np.asarray(expected)
    assert_near(x, y, 0.0, what)
    if x.dtype.kind in "fc":
        for part in (np.real, np.imag):
            p: Any = part(x)
            q: Any = part(y)
            differ: Any = (np.signbit(p) != np.signbit(q)) & (p == p)
            assert not differ.any(), f"zeros of other signs, at {np.argwhere(differ)[0]} ({what})"


def assert_near(actual: Any, expected: Any, tol: float, what: str = "", *, atol: Any = 0.0) -> None:
    """Fail unless shapes agree, and elements within ``tol`` relative to the expected element.

    ``atol`` is allowed besides (a number, or one per element): the rounding errors of terms that
    cancel. Below the smallest normal number ``tol`` is relative to that.
    """
    x, y = widened(actual), widened(expected)
    where = f" ({what})" if what else ""
    assert x.shape == y.shape, f"shape {x.shape}, expected {y.shape}{where}"
    with np.errstate(all="ignore"):
        same = (x == y) | ((x != x) & (y != y))
        if tol or np.any(atol):
            least = max(smallest_normal(np.asarray(a).dtype) for a in (actual, expected))
            allowed = tol * np.maximum(np.abs(y), least) + atol
            same = same | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= allowed))
    if not same.all():
        at = tuple(int(i) for i in np.argwhere(~np.atleast_1d(same))[0]) if x.ndim else ()
        raise AssertionError(
            f"{int((~same).sum())} of {same.size} elements differ, first at {list(at)}: "
            f"{x[at]}, expected {y[at]}{where}"
        )


def random_like(aval: Any, seed: int = 0) -> np.ndarray[Any, Any]:
    """Deterministic standard normal numbers of an array type (bools and integers: 0 or 1)."""
    rng: Any = np.random.default_rng([seed, *aval.shape])
    dtype: Any = aval.dtype
    if not is_inexact(dtype):
        return np.asarray(rng.integers(0, 2, aval.shape)).astype(dtype)
    real: Any = rng.standard_normal(aval.shape)
    if np.dtype(dtype).kind == "c":
        real = real + 1j * rng.standard_normal(aval.shape)
    return np.asarray(real).astype(dtype)


def finite_difference(
    f: ArrayFunction, primals: Arrays, tangents: Arrays, step: float | None = None
) -> list[np.ndarray[Any, Any]]:
    """The derivative of ``f`` at ``primals`` in the direction ``tangents``, of fourth order.

    ``f`` takes and returns sequences of arrays; a tangent may be None (zero). Results are float64
    or complex128.
    """
    return [d for d, _ in finite_difference_with_error(f, primals, tangents, step)]


def finite_difference_with_error(
    f: ArrayFunction,
    primals: Arrays,
    tangents: Arrays,
    step: float | None = None,
    *,
    scale: float = 0.0,
    eps: float = 0.0,
) -> list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]:
    """Each result of :func:`finite_difference`, with an estimate of its error.

    With x± = x ± h t:  f' = (8 (f(x+) - f(x-)) - (f(x+ +) - f(x- -))) / 12 h + O(h⁴), so that the
    best step is near eps^(1/5). Terms as large as f / h cancel to f': values that are off by a few
    eps leave an absolute error of that much of the terms. ``scale`` is the size that the values'
    own rounding is relative to, where it is larger than they are; ``eps`` is their precision, where
    it is coarser than that of ``primals``. The error of fourth order is about h² times that of
    second order, which two steps show.
    """
    inexact = [np.asarray(x).dtype for x in primals if is_inexact(np.asarray(x).dtype)]
    eps = max([eps, *map(precision, inexact)]) if inexact else 1.0
    h = eps**0.2 if step is None else step

    def at(k: int) -> list[np.ndarray[Any, Any]]:
        moved = [x if t is None else _moved(x, t, k * h) for x, t in zip(primals, tangents)]
        return [widened(y) for y in f(*moved)]

    result: list[tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
    for a, b, c, d in zip(at(1), at(-1), at(2), at(-2)):
        with np.errstate(all="ignore"):
            near, far = _difference(a, b), _difference(c, d)
            p, q, r, s = (np.maximum(np.abs(y), scale) for y in (a, b, c, d))
            rounding = ROUNDINGS * eps * (8 * (p + q) + (r + s)) / (12 * h)
            truncation = h * h * np.abs(far / (4 * h) - near / (2 * h))
            result.append(((8 * near - far) / (12 * h), rounding + truncation))
    return result


def _difference(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``x - y``, but zero for two equal infinities."""
    return np.where(x == y, 0.0, x - y)


def _moved(x: Any, tangent: Any, distance: float) -> Any:
    return (widened(x) + distance * widened(tangent)).astype(np.asarray(x).dtype)[()]


def dot(xs: Arrays, ys: Arrays) -> complex:
    """The bilinear form sum(x * y) over pairs of arrays (no conjugate); None counts as zero."""
    total = 0j
    for x, y in zip(xs, ys, strict=True):
        if x is not None and y is not None:
            total += complex(np.sum(widened(x) * widened(y)))
    return total


def assert_transposes(
    forward: ArrayFunction, backward: ArrayFunction, inputs: Arrays, cotangents: Arrays, tol: float
) -> None:
    """Fail unless Re <ct, forward(x)> = Re <backward(ct), x>: the dot-product test of a transpose.

    Real parts, because maps between real and complex arrays are linear over the reals only; for
    maps that are linear over the complex numbers the real parts suffice.
    """
    left = dot(cotangents, forward(*inputs)).real
    right = dot(backward(*cotangents), inputs).real
    scale = max(1.0, abs(left), abs(right))
    assert abs(left - right) <= tol * scale, f"<ct, f x> = {left}, <fT ct, x> = {right}"


def stacked_loop(
    f: ArrayFunction, args: Arrays, dims: Sequence[int | None], size: int
) -> list[np.ndarray[Any, Any]]:
    """``f`` on each slice of the arguments along ``dims`` in turn, results stacked in front."""
    rows = [
        [np.asarray(y) for y in f(*[_slice(x, d, i) for x, d in zip(args, dims)])]
        for i in range(size)
    ]
    return [np.stack(column) for column in zip(*rows)]


def _slice(x: Any, dim: int | None, i: int) -> Any:
    return x if dim is None else np.take(np.asarray(x), i, axis=dim)[()]


def aval_of(x: Any) -> ShapedArray:
    """The type of an array exactly as it is, 64-bit types included."""
    y = np.asarray(x)
    return ShapedArray(y.shape, y.dtype)
