"""What laws compare with: finite differences, dot products, stacked loops, and tolerances."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import ml_dtypes
import numpy as np

from ..types.avals import ShapedArray, is_inexact

Arrays = Sequence[Any]
ArrayFunction = Callable[..., Sequence[Any]]


def precision(dtype: Any) -> float:
    """The distance from 1 to the next number of a floating-point or complex type."""
    dt = np.dtype(dtype)
    real = np.dtype(f"f{dt.itemsize // 2}") if dt.kind == "c" else dt
    finfo: Any = ml_dtypes.finfo
    return float(finfo(real).eps)


def tolerance(dtype: Any, factor: float = 64.0) -> float:
    """A relative and absolute tolerance for results of type ``dtype``; 0 for integers and bools."""
    return factor * precision(dtype) if is_inexact(np.dtype(dtype)) else 0.0


def widened(x: Any) -> np.ndarray[Any, Any]:
    """``x`` as float64 or complex128 (what is exact stays as it is)."""
    y = np.asarray(x)
    if not is_inexact(y.dtype):
        return y
    return y.astype(np.complex128 if y.dtype.kind == "c" else np.float64)


def assert_same(actual: Any, expected: Any, what: str = "") -> None:
    """Fail unless dtype, shape and every element agree (NaN agrees with NaN)."""
    assert_close(actual, expected, what, factor=0.0)


def assert_close(actual: Any, expected: Any, what: str = "", *, factor: float = 64.0) -> None:
    """Fail unless dtype and shape agree, and elements within ``tolerance(dtype, factor)``.

    Integers and bools must be equal. The error names the first element that differs.
    """
    x, y = np.asarray(actual), np.asarray(expected)
    where = f" ({what})" if what else ""
    assert x.dtype == y.dtype, f"dtype {x.dtype}, expected {y.dtype}{where}"
    assert_near(x, y, tolerance(x.dtype, factor), what)


def assert_near(actual: Any, expected: Any, tol: float, what: str = "") -> None:
    """Fail unless shapes agree, and elements within ``tol`` (relative to the largest expected)."""
    x, y = widened(actual), widened(expected)
    where = f" ({what})" if what else ""
    assert x.shape == y.shape, f"shape {x.shape}, expected {y.shape}{where}"
    with np.errstate(all="ignore"):
        same = (x == y) | ((x != x) & (y != y))
        if tol:
            finite = np.abs(y)[np.isfinite(y)]
            scale = max(1.0, float(finite.max())) if finite.size else 1.0
            same = same | (np.isfinite(x) & np.isfinite(y) & (np.abs(x - y) <= tol * scale))
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

    With x± = x ± h t:  f' = (8 (f(x+) - f(x-)) - (f(x+ +) - f(x- -))) / 12 h + O(h⁴), so that the
    best step is near eps^(1/5). ``f`` takes and returns sequences of arrays; a tangent may be None
    (zero). Results are float64 or complex128.
    """
    inexact = [np.asarray(x).dtype for x in primals if is_inexact(np.asarray(x).dtype)]
    eps = max(map(precision, inexact)) if inexact else 1.0
    h = eps**0.2 if step is None else step

    def at(k: int) -> list[np.ndarray[Any, Any]]:
        moved = [x if t is None else _moved(x, t, k * h) for x, t in zip(primals, tangents)]
        return [widened(y) for y in f(*moved)]

    a, b, c, d = at(1), at(-1), at(2), at(-2)
    with np.errstate(all="ignore"):
        return [
            (8 * _difference(p, q) - _difference(r, s)) / (12 * h) for p, q, r, s in zip(a, b, c, d)
        ]


def _difference(x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """``x - y``, zero also where both are the same infinity: a function does not change there."""
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
    maps that are linear over the complex numbers too this says the same.
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
