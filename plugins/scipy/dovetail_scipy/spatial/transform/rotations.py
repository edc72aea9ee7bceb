"""Rotations in space, and their interpolation."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import dovetail_numpy as dnp
from dovetail_base.arguments import integer
from dovetail_base.source import short_repr
from dovetail_core import here

from ...arguments import Array, ArrayLike, inexact
from . import quaternions


def floats(name: str, x: ArrayLike, *last: int) -> Array:
    """An array of floating-point numbers whose last dimensions are ``last``.

    Raises:
        ValueError: they are not.
    """
    (array,) = inexact(name, dnp.asarray(x))
    if array.shape[array.ndim - len(last) :] != last or array.ndim < len(last):
        raise ValueError(
            f"{name} takes an array whose last dimensions are {last}, got shape {array.shape}"
            f"{here()}"
        )
    return array


class Rotation(NamedTuple):
    """Rotations in space: one, or an array of them.

    They are made by the methods ``from_...``, ``identity`` and ``random``; ``a * b`` is ``a`` after
    ``b``. Indexing and ``len`` are along the first axis. It is a pytree.

    Attributes:
        quat: unit quaternions ``(x, y, z, w)``, on the last axis.
    """

    quat: Array

    @classmethod
    def concatenate(cls, rotations: Sequence[Rotation]) -> Rotation:
        """An array of all rotations of a sequence, each one or an array."""
        return cls(dnp.concatenate([dnp.atleast_2d(r.quat) for r in rotations]))

    @classmethod
    def from_euler(cls, seq: str, angles: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations about axes, one after another.

        Args:
            seq: one to three letters: of ``xyz`` for fixed axes (extrinsic), of ``XYZ`` for axes
                that rotate, too (intrinsic).
            angles: one for each axis, on the last dimension; of one axis, also a number.

        Raises:
            ValueError: there are no such axes, or another number of angles.
        """
        axes, intrinsic = _axes(seq, (1, 2, 3))
        given = dnp.atleast_1d(dnp.asarray(angles))
        result = floats("Rotation.from_euler", given, len(axes))
        return cls(quaternions.from_euler(_radians(result, degrees), axes, intrinsic))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Rotation:
        """Rotations of orthogonal 3 by 3 matrices of determinant 1."""
        return cls(quaternions.from_matrix(floats("Rotation.from_matrix", matrix, 3, 3)))

    @classmethod
    def from_mrp(cls, mrp: ArrayLike) -> Rotation:
        """Rotations of modified Rodrigues parameters: vectors along the axis, as long as the
        tangent of a fourth of the angle."""
        return cls(quaternions.from_mrp(floats("Rotation.from_mrp", mrp, 3)))

    @classmethod
    def from_quat(cls, quat: ArrayLike) -> Rotation:
        """Rotations of quaternions ``(x, y, z, w)``, which need not have length 1."""
        return cls(quaternions.normalized(floats("Rotation.from_quat", quat, 4)))

    @classmethod
    def from_rotvec(cls, rotvec: ArrayLike, degrees: bool = False) -> Rotation:
        """Rotations of vectors along the axis, as long as the angle."""
        result = floats("Rotation.from_rotvec", rotvec, 3)
        return cls(quaternions.from_rotvec(_radians(result, degrees)))

    @classmethod
    def identity(cls, num: int | None = None, dtype: Any = float) -> Rotation:
        """The rotation that changes nothing, ``num`` times if that is given."""
        shape = () if num is None else (integer("Rotation.identity: num", num),)
        unit = np.asarray([0, 0, 0, 1])
        return cls(dnp.broadcast_to(dnp.asarray(unit, dtype), (*shape, 4)))

    @classmethod
    def random(cls, random_key: Array, num: int | None = None) -> Rotation:
        """A rotation drawn uniformly, or ``num`` of them."""
        from dovetail_random import normal

        shape = () if num is None else (integer("Rotation.random: num", num),)
        return cls(quaternions.normalized(normal(random_key, (*shape, 4))))

    def __getitem__(self, indexer: Any) -> Rotation:  # type: ignore[override]
        """The rotations at these indices.

        Raises:
            TypeError: this is a single rotation.
        """
        self._refuse_single("has no elements")
        return Rotation(self.quat[indexer])

    def __len__(self) -> int:
        """The number of rotations along the first axis.

        Raises:
            TypeError: this is a single rotation.
        """
        self._refuse_single("has no length")
        return self.quat.shape[0]

    def __bool__(self) -> bool:
        return True

    def __mul__(self, other: Rotation) -> Rotation:  # type: ignore[override]
        """This rotation after another one."""
        if not isinstance(other, Rotation):
            return NotImplemented
        return Rotation(quaternions.product(self.quat, other.quat))

    def _refuse_single(self, what: str) -> None:
        if self.single:
            raise TypeError(f"a single Rotation {what}{here()}")

    def apply(self, vectors: ArrayLike, inverse: bool = False) -> Array:
        """Vectors, rotated; ``inverse`` rotates back. Their leading dimensions broadcast with those
        of the rotations."""
        quat = quaternions.conjugate(self.quat) if inverse else self.quat
        return quaternions.rotate(quat, floats("Rotation.apply", vectors, 3))

    def as_euler(self, seq: str, degrees: bool = False) -> Array:
        """Angles about three axes (see :meth:`from_euler`), in radians from -π to π, the second
        from 0 to π or, if the axes differ, from -π/2 to π/2.

        Raises:
            ValueError: ``seq`` does not name three axes, or one twice in succession.
        """
        axes, intrinsic = _axes(seq, (3,))
        angles = quaternions.to_euler(self.quat, axes, intrinsic)
        return dnp.rad2deg(angles) if degrees else angles

    def as_matrix(self) -> Array:
        """Rotation matrices."""
        return quaternions.to_matrix(self.quat)

    def as_mrp(self) -> Array:
        """Modified Rodrigues parameters, at most of length 1 (see :meth:`from_mrp`)."""
        return quaternions.to_mrp(self.quat)

    def as_rotvec(self, degrees: bool = False) -> Array:
        """Vectors along the axis, as long as the angle, at most half a turn."""
        result = quaternions.to_rotvec(self.quat)
        return dnp.rad2deg(result) if degrees else result

    def as_quat(self, canonical: bool = False, scalar_first: bool = False) -> Array:
        """Unit quaternions ``(x, y, z, w)``, or ``(w, x, y, z)``.

        Args:
            canonical: return the one of both quaternions of a rotation that has positive ``w``.
        """
        quat = quaternions.canonical(self.quat) if canonical else self.quat
        return dnp.roll(quat, 1, -1) if scalar_first else quat

    def inv(self) -> Rotation:
        """The inverse."""
        return Rotation(quaternions.conjugate(self.quat))

    def magnitude(self) -> Array:
        """Angles, from 0 to π."""
        return quaternions.magnitude(self.quat)

    def mean(self, weights: ArrayLike | None = None) -> Rotation:
        """The rotation that is nearest to all of these, each of some weight, by default one."""
        quat = dnp.atleast_2d(self.quat)
        shape = quat.shape[:-1]
        given = dnp.ones(shape, quat.dtype) if weights is None else weights
        result = floats("Rotation.mean: weights", given, *shape).astype(quat.dtype)
        return Rotation(quaternions.mean(quat, result))

    @property
    def single(self) -> bool:
        """True if this is one rotation and no array."""
        return dnp.ndim(self.quat) == 1


def _radians(angles: Any, degrees: bool) -> Any:
    return dnp.deg2rad(angles) if degrees else angles


def _axes(seq: str, counts: tuple[int, ...]) -> tuple[Any, bool]:
    intrinsic = isinstance(seq, str) and seq.isupper()
    names = "XYZ" if intrinsic else "xyz"
    is_valid = isinstance(seq, str) and set(seq) <= set(names)
    if not is_valid or len(seq) not in counts or any(a == b for a, b in pairwise(seq)):
        count = "3" if counts == (3,) else "1 to 3"
        raise ValueError(
            f"Rotation: seq must be {count} letters of 'xyz' or of 'XYZ', none twice in succession,"
            f" got {short_repr(seq)}{here()}"
        )
    return tuple(names.index(a) for a in seq), intrinsic


class Slerp(NamedTuple):
    """Spherical linear interpolation: between two rotations at constant angular velocity.

    It is made by :meth:`init` and called with times. It is a pytree.

    Attributes:
        times: the times at which rotations are reached. timedelta: the differences.
        rotations: the rotations at the starts of intervals.
        rotvecs: the rotations within intervals, as rotation vectors.
    """

    times: Array
    timedelta: Array
    rotations: Rotation
    rotvecs: Array

    @classmethod
    def init(cls, times: ArrayLike, rotations: Rotation) -> Slerp:
        """Interpolate rotations that are reached at ``times``, ascending.

        Raises:
            TypeError: ``rotations`` is no ``Rotation``.
            ValueError: there are fewer than two, or another number of times.
        """
        if not isinstance(rotations, Rotation):
            raise TypeError(
                f"Slerp.init: rotations must be a Rotation, got {short_repr(rotations)}{here()}"
            )
        if rotations.single or len(rotations) < 2:
            raise ValueError(f"Slerp.init: rotations must be two or more{here()}")
        result = floats("Slerp.init: times", times)
        if result.shape != (len(rotations),):
            raise ValueError(
                f"Slerp.init: times must be a vector of {len(rotations)}, one for each rotation, "
                f"got shape {result.shape}{here()}"
            )
        before, after = Rotation(rotations.quat[:-1]), Rotation(rotations.quat[1:])
        return cls(result, dnp.diff(result), before, (before.inv() * after).as_rotvec())

    def __call__(self, times: ArrayLike) -> Rotation:
        """The rotations at these times, a number or an array of them.

        Outside of the interpolated times the rotation continues as in the nearest interval.
        """
        at = floats("Slerp", times)
        last = self.timedelta.shape[0] - 1
        index = dnp.clip(dnp.searchsorted(self.times, at, side="right") - 1, 0, last)
        part = (at - self.times[index]) / self.timedelta[index]
        turned = Rotation.from_rotvec(self.rotvecs[index] * part[..., None])
        return self.rotations[index] * turned
