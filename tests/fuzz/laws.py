"""How results are compared. The source of this file is copied into the scripts of failures."""

from __future__ import annotations

import ml_dtypes
import numpy as np

import dovetail.numpy as dnp


class Wrong(AssertionError):
    """A law is broken."""


class Unclear(Exception):
    """A law says nothing here: at a kink, or where numbers are out of range."""


def inexact(x):
    """Whether a value has a derivative; a Python number is one of a program's literals."""
    return dnp.issubdtype(getattr(x, "dtype", type(x)), dnp.inexact)


def places(xs):
    """Which arguments have derivatives."""
    return [i for i, x in enumerate(xs) if inexact(x)]


def smooth(f, xs):
    """``f`` as a function of the arguments and to the results that have derivatives."""
    at = places(xs)

    def g(*moving):
        full = list(xs)
        for i, x in zip(at, moving):
            full[i] = x
        result = tuple([y for y in f(*full) if inexact(y)])
        if not result:
            raise Unclear("no result has a derivative")
        return result

    return g


def weights(ys):
    """Fixed cotangents of some types."""
    result = []
    for k, y in enumerate(ys):
        w = np.cos(np.arange(y.size) + k).reshape(y.shape)
        if dnp.issubdtype(y.dtype, dnp.complexfloating):
            w = w + 0.5j * np.sin(np.arange(y.size)).reshape(y.shape)
        result.append(dnp.asarray(w.astype(y.dtype)))
    return tuple(result)


def scalar(f, xs):
    """A weighted sum of the results of ``smooth(f, xs)``, a real number."""
    g = smooth(f, xs)

    def h(*moving):
        ys = g(*moving)
        return sum([dnp.real((w * y).sum()).astype(dnp.float64) for w, y in zip(weights(ys), ys)])

    return h


def wide(x):
    """An array in double precision."""
    x = np.asarray(x)
    if not dnp.issubdtype(x.dtype, dnp.inexact):
        return x
    return x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)


def precision(dtype):
    """The distance from 1 to the next number."""
    dt = np.dtype(dtype)
    return float(ml_dtypes.finfo(f"f{dt.itemsize // 2}" if dt.kind == "c" else dt).eps)


def tolerance(dtype):
    """How far results may be apart, relative to the largest, that are computed in two ways."""
    return max(1e-8, 1000 * precision(dtype)) if precision(dtype) < 1e-4 else 0.12


def near(x, y, tol):
    """Whether arrays agree, relative to the largest element; NaN agrees with NaN."""
    x, y = wide(x), wide(y)
    if not inexact(y):
        return np.array_equal(x, y)
    with np.errstate(all="ignore"):
        same = (x == y) | ((x != x) & (y != y))
        finite = np.abs(y)[np.isfinite(y)]
        return bool(np.all(same | (np.abs(x - y) <= tol * (1 + finite.max(initial=0)))))


def agree(got, want, what, factor=1.0):
    """Raise Wrong unless lists of arrays have the same types, and values but for rounding."""
    if len(got) != len(want):
        raise Wrong(f"{what}: {len(got)} results, expected {len(want)}")
    # What is of a wide type may be computed from what is not: a cotangent of what was converted.
    coarsest = max([tolerance(y.dtype) for y in map(np.asarray, want) if inexact(y)], default=0)
    for i, (x, y) in enumerate(zip(got, want)):
        x, y = np.asarray(x), np.asarray(y)
        if x.dtype != y.dtype or x.shape != y.shape:
            raise Wrong(f"{what}: result {i} is {x.dtype}{x.shape}, expected {y.dtype}{y.shape}")
        if not near(x, y, factor * coarsest if inexact(x) else 0):
            if not np.isfinite(wide(y)).all() or np.abs(wide(y)).max() > 1e8:
                raise Unclear("out of range")
            raise Wrong(f"{what}: result {i} is\n{x}\nexpected\n{y}")


def slope(at, h):
    """The derivative of ``at`` at 0, of fourth order in the step."""
    parts = zip(at(h), at(-h), at(2 * h), at(-2 * h))
    return [(8 * (wide(a) - wide(b)) - (wide(c) - wide(d))) / (12 * h) for a, b, c, d in parts]


def agree_with_slope(got, at, what):
    """Raise Wrong unless ``got`` is the derivative of ``at`` at 0, where that is smooth.

    Where they differ, steps of other sizes and on either side say how much is known.
    """
    want = slope(at, 1e-3)
    if all(near(x, y, 1e-5) for x, y in zip(got, want)):
        return
    finer, h = slope(at, 2e-4), 1e-5
    sides = [
        [
            (-3 * wide(a) + 4 * wide(b) - wide(c)) / (2 * k)
            for a, b, c in zip(at(0), at(k), at(2 * k))
        ]
        for k in (h, -h)
    ]
    for i, (x, y) in enumerate(zip(got, want)):
        others = [finer[i], sides[0][i], sides[1][i]]
        if not all(np.isfinite(z).all() for z in [y, *others]) or np.abs(y).max(initial=0) > 1e6:
            raise Unclear("out of range")
        doubt = max(np.abs(y - z).max(initial=0) for z in others)
        error = np.abs(wide(x) - finer[i]).max(initial=0)
        if not error <= 20 * doubt + 1e-5 * (1 + np.abs(y).max(initial=0)):
            raise Wrong(f"{what}: result {i} is\n{x}\nfinite differences say\n{finer[i]}")
    raise Unclear("not smooth")


def moved(xs, ts, h):
    """Arguments a step along a direction."""
    ts = iter(ts)
    return [x + h * next(ts) if inexact(x) else x for x in xs]


def double(xs):
    """Whether all that has a derivative has digits enough for finite differences."""
    return all(x.dtype in (np.float64, np.complex128) for x in xs if inexact(x))


def dot(xs, ys):
    """The real part of a sum of products."""
    return float(sum([(wide(x) * wide(y)).sum().real for x, y in zip(xs, ys)]))


def direction(xs):
    """Fixed tangents."""
    result = []
    for k, x in enumerate(x for x in xs if inexact(x)):
        t = np.sin(2.0 * np.arange(np.size(x)) + k + 0.5).reshape(np.shape(x))
        if dnp.issubdtype(x.dtype, dnp.complexfloating):
            t = t + 1j * np.cos(np.arange(np.size(x))).reshape(np.shape(x))
        result.append(t.astype(x.dtype))
    return result
