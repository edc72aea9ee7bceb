"""Interpolation of rotations."""

from __future__ import annotations

from typing import NamedTuple

import dovetail_numpy as dnp
from dovetail_base.source import short_repr
from dovetail_core import here

from ...arguments import Array, ArrayLike
from .rotations import Rotation, floats


class Slerp(NamedTuple):
    """Spherical linear interpolation: between two rotations at constant angular velocity.

    It is made by :meth:`init` and called with times. It is a pytree.

    Attributes:
        times: when each rotation is reached. timedelta: the differences.
        rotations: those with which intervals begin.
        rotvecs: how far they turn within an interval, as rotation vectors.
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
        """The rotations at these times, a number or an array of them. Outside of the interpolated
        times the rotation goes on as in the interval beside."""
        at = floats("Slerp", times)
        last = self.timedelta.shape[0] - 1
        index = dnp.clip(dnp.searchsorted(self.times, at, side="right") - 1, 0, last)
        part = (at - self.times[index]) / self.timedelta[index]
        turned = Rotation.from_rotvec(self.rotvecs[index] * part[..., None])
        return self.rotations[index] * turned
