"""Unit quaternions ``(x, y, z, w)`` along last axes, and other descriptions of rotations.

Functions that are smooth are so at the identity, too: near it, where lengths have no derivatives,
they are power series of squared lengths.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_jit import fused

SMALL = 1e-3
"""The squared length below which five terms of a series are exact."""


def _series(s: Any, terms: list[float]) -> Any:
    out: Any = terms[-1]
    for term in terms[-2::-1]:
        out = out * s + term
    return out


def _total(v: Any) -> Any:
    return dnp.sum(v, -1, keepdims=True)


@fused()
def normalized(q: Any) -> Any:
    """A quaternion over its length."""
    return q / dnp.sqrt(_total(q * q))


@fused()
def canonical(q: Any) -> Any:
    """The quaternion of a rotation, of two, whose first nonzero of w, z, y, x is positive."""
    x, y, z, w = (q[..., i : i + 1] for i in range(4))
    leading = dnp.where(w != 0, w, dnp.where(z != 0, z, dnp.where(y != 0, y, x)))
    return dnp.where(leading < 0, -q, q)


@fused()
def product(p: Any, q: Any) -> Any:
    """The rotation ``p`` after ``q``."""
    u, a, v, b = p[..., :3], p[..., 3:], q[..., :3], q[..., 3:]
    vector = a * v + b * u + dnp.cross(u, v)
    return dnp.concatenate([vector, a * b - _total(u * v)], -1)


@fused()
def conjugate(q: Any) -> Any:
    """The inverse rotation."""
    return q * np.asarray([-1, -1, -1, 1], q.dtype)


@fused()
def rotate(q: Any, v: Any) -> Any:
    """A vector, rotated."""
    u, w = q[..., :3], q[..., 3:]
    t = 2 * dnp.cross(u, v)
    return v + w * t + dnp.cross(u, t)


@fused()
def to_matrix(q: Any) -> Any:
    """Rotation matrices."""
    x, y, z, w = (q[..., i] for i in range(4))
    rows = [
        [x * x - y * y - z * z + w * w, 2 * (x * y - z * w), 2 * (x * z + y * w)],
        [2 * (x * y + z * w), y * y - x * x - z * z + w * w, 2 * (y * z - x * w)],
        [2 * (x * z - y * w), 2 * (y * z + x * w), z * z - x * x - y * y + w * w],
    ]
    return dnp.stack([dnp.stack(row, -1) for row in rows], -2)


@fused()
def from_matrix(m: Any) -> Any:
    """Quaternions of rotation matrices.

    Four times the outer product of the quaternion with itself is linear in the matrix; its row of
    the largest diagonal element determines it well.
    """
    (a, b, c), (d, e, f), (g, h, i) = ([m[..., r, s] for s in range(3)] for r in range(3))
    rows = [
        [1 + a - e - i, b + d, c + g, h - f],
        [b + d, 1 + e - a - i, f + h, c - g],
        [c + g, f + h, 1 + i - a - e, d - b],
        [h - f, c - g, d - b, 1 + a + e + i],
    ]
    outer = dnp.stack([dnp.stack(row, -1) for row in rows], -2)
    best = dnp.argmax(dnp.diagonal(outer, 0, -2, -1), -1)
    return normalized(dnp.take_along_axis(outer, best[..., None, None], -2)[..., 0, :])


@fused()
def from_rotvec(v: Any) -> Any:
    """Quaternions of vectors along the axis, as long as the angle."""
    s = _total(v * v) / 4
    small = s < SMALL
    half = dnp.sqrt(dnp.where(small, 1, s))
    sinc = dnp.where(small, _series(s, [1, -1 / 6, 1 / 120, -1 / 5040, 1 / 362880]),
                     dnp.sin(half) / half)  # fmt: skip
    cos = dnp.where(small, _series(s, [1, -1 / 2, 1 / 24, -1 / 720, 1 / 40320]), dnp.cos(half))
    return dnp.concatenate([v / 2 * sinc, cos], -1)


@fused()
def to_rotvec(q: Any) -> Any:
    """Vectors along the axis, as long as the angle, at most a half turn."""
    q = canonical(q)
    v, w = q[..., :3], q[..., 3:]
    s = _total(v * v)
    small = s < SMALL * w * w
    length = dnp.sqrt(dnp.where(small, 1, s))
    near = dnp.where(small, w, 1)
    series = 2 / near * _series(s / (near * near), [1, -1 / 3, 1 / 5, -1 / 7, 1 / 9])
    return v * dnp.where(small, series, 2 * dnp.arctan2(length, w) / length)


@fused()
def magnitude(q: Any) -> Any:
    """Angles, from 0 to a half turn."""
    v = q[..., :3]
    return 2 * dnp.arctan2(dnp.sqrt(dnp.sum(v * v, -1)), dnp.abs(q[..., 3]))


@fused()
def from_mrp(m: Any) -> Any:
    """Quaternions of vectors along the axis, as long as the tangent of a fourth of the angle."""
    s = _total(m * m)
    return dnp.concatenate([2 * m, 1 - s], -1) / (1 + s)


@fused()
def to_mrp(q: Any) -> Any:
    """Vectors along the axis, as long as the tangent of a fourth of the angle."""
    q = canonical(q)
    return q[..., :3] / (1 + q[..., 3:])


@fused()
def mean(q: Any, weights: Any) -> Any:
    """The rotation from which the weighted sum of squared sines of half the angles is least."""
    outer = dnp.einsum("...i,...j,...->ij", q, q, weights)
    return dnp.linalg.eigh(outer)[1][:, -1]


@fused(static=("axes", "intrinsic"))
def from_euler(angles: Any, axes: tuple[int, ...], intrinsic: bool) -> Any:
    """Quaternions of rotations about axes, one after another."""
    out: Any = None
    for i, axis in enumerate(axes):
        half = angles[..., i] / 2
        parts = [dnp.zeros_like(half)] * 4
        parts[axis], parts[3] = dnp.sin(half), dnp.cos(half)
        turn = dnp.stack(parts, -1)
        pair = (out, turn) if intrinsic else (turn, out)
        out = turn if out is None else product(*pair)
    return out


@fused(static=("axes", "intrinsic"))
def to_euler(q: Any, axes: tuple[int, int, int], intrinsic: bool) -> Any:
    """Angles about three axes, by Bernardes and Viollet's method.

    Where the first and the last axis coincide, the last angle is 0.
    """
    i, j, k = axes[::-1] if intrinsic else axes
    proper = i == k
    k = 3 - i - j if proper else k
    sign = (i - j) * (j - k) * (k - i) // 2
    first, second, third, w = q[..., i], q[..., j], q[..., k] * sign, q[..., 3]
    if proper:
        a, b, c, d = w, first, second, third
    else:
        a, b, c, d = w - second, first + third, second + w, third - first
    middle = 2 * dnp.arctan2(dnp.hypot(c, d), dnp.hypot(a, b))
    half_sum, half_difference = dnp.arctan2(b, a), dnp.arctan2(d, c)
    eps = 8 * float(dnp.finfo(q.dtype).eps)
    none, half_turn = middle <= eps, dnp.abs(middle - np.pi) <= eps
    locked = dnp.where(none, 2 * half_sum, 2 * half_difference * (1 if intrinsic else -1))
    ends = [half_sum - half_difference, half_sum + half_difference]
    start, end = ends[::-1] if intrinsic else ends
    start = dnp.where(none | half_turn, locked, start)
    end = dnp.where(none | half_turn, 0, end)
    if not proper:
        middle = middle - np.pi / 2
        start, end = (start * sign, end) if intrinsic else (start, end * sign)
    out = dnp.stack([start, middle, end], -1)
    return out - 2 * np.pi * dnp.round(out / (2 * np.pi))
