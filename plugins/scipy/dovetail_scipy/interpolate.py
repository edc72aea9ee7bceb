"""Interpolation on grids."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_jit import fused

from .arguments import Array, ArrayLike, array, inexact

__all__ = ["RegularGridInterpolator"]
_METHODS = ("linear", "nearest")


class RegularGridInterpolator:
    """Interpolation of values on a grid of rectangular cells, of any number of dimensions.

    Args:
        points: for each dimension of the grid the coordinates of its lines, ascending vectors.
        values: the values at the crossings; further dimensions are those of each value.
        method: ``"linear"`` in each dimension, or ``"nearest"``.
        bounds_error: must be False: programs cannot raise errors for values.
        fill_value: the result outside of the grid; None extrapolates.

    Raises:
        NotImplementedError: ``bounds_error`` is true.
        ValueError: there is no such method, shapes do not fit, or ``fill_value`` is complex and
            ``values`` are real.
    """

    @reword_errors
    def __init__(
        self, points: Sequence[ArrayLike], values: ArrayLike, method: str = "linear",
        bounds_error: bool = False, fill_value: ArrayLike | None = np.nan,
    ) -> None:  # fmt: skip
        _check_method(method)
        if bounds_error:
            raise NotImplementedError(
                "RegularGridInterpolator: bounds_error=True is not supported: a compiled program "
                f"raises no errors for values{here()}. Choose a fill_value, or check the points."
            )
        self.method, self.bounds_error, self.fill_value = method, bounds_error, fill_value
        (self.values,) = inexact("RegularGridInterpolator", values)
        axes = [array("RegularGridInterpolator", p) for p in points]
        self.grid = tuple(axes)
        _check_grid(axes, self.values)
        _check_fill(fill_value, self.values)

    @reword_errors
    def __call__(self, xi: Any, method: str | None = None) -> Array:
        """The interpolated values at points.

        Args:
            xi: an array whose last axis has the coordinates of a point, or a tuple of arrays, one
                for each coordinate, that broadcast.
            method: another one than that of the interpolator.

        Raises:
            ValueError: there is no such method, or points have another number of coordinates.
        """
        chosen = self.method if method is None else method
        _check_method(chosen)
        coordinates = _coordinates(xi, len(self.grid))
        return _interpolate(self.grid, self.values, coordinates, self.fill_value, chosen)


def _check_method(method: Any) -> None:
    if method not in _METHODS:
        raise ValueError(
            f"RegularGridInterpolator: method must be 'linear' or 'nearest', got "
            f"{short_repr(method)}{here()}"
        )


def _check_grid(axes: list[Any], values: Any) -> None:
    if len(axes) > values.ndim:
        raise ValueError(
            f"RegularGridInterpolator: there are {len(axes)} vectors of points, but values have "
            f"{values.ndim} dimensions{here()}"
        )
    for i, (p, size) in enumerate(zip(axes, values.shape)):
        if p.shape != (size,) or size < 2:
            raise ValueError(
                f"RegularGridInterpolator: points[{i}] must be a vector of at least two "
                f"coordinates, as many as values have elements in dimension {i}, which is {size}; "
                f"got shape {p.shape}{here()}"
            )


def _check_fill(fill: Any, values: Any) -> None:
    if fill is not None:
        dtype = array("RegularGridInterpolator", fill).dtype
        if dtype.kind == "c" and values.dtype.kind != "c":
            raise ValueError(
                f"RegularGridInterpolator: fill_value {short_repr(fill)} cannot stand among values "
                f"of {values.dtype}{here()}"
            )


def _coordinates(xi: Any, ndim: int) -> list[Any]:
    """The coordinates of the points, an array for each dimension."""
    name = "RegularGridInterpolator"
    if isinstance(xi, (tuple, list)):
        count = len(xi)
        result = list(dnp.broadcast_arrays(*inexact(name, *xi)))
    else:
        (points,) = inexact(name, xi)
        points = points[..., None] if ndim == 1 and points.ndim < 2 else points
        count = points.shape[-1] if points.ndim else 0
        result = [points[..., i] for i in range(count)]
    if count != ndim:
        raise ValueError(
            f"RegularGridInterpolator: points must have {ndim} coordinates, as the grid, got "
            f"{count}{here()}"
        )
    return result


@fused(static=("method",))
def _interpolate(grid: Any, values: Any, coordinates: Any, fill: Any, method: str) -> Any:
    axes, in_bounds = [], dnp.asarray(True)
    for points, x in zip(grid, coordinates):
        points, x = inexact("RegularGridInterpolator", points, x)
        axes.append(_corners(points, x, method))
        in_bounds = in_bounds & ~((x < points[0]) | (x > points[-1]))
    rest = (1,) * (values.ndim - len(grid))
    out: Any = 0
    for picked in product(*axes):
        value = values[tuple(index for index, _ in picked)]
        for _, weight in picked:
            if weight is not None:
                value = value * weight.reshape(weight.shape + rest)
        out = out + value
    if fill is None:
        return out
    shown = in_bounds.reshape(in_bounds.shape + rest)
    return dnp.where(shown, out, dnp.asarray(fill, out.dtype))


def _corners(points: Any, x: Any, method: str) -> list[tuple[Any, Any]]:
    """Indices and weights of the lines on both sides of a coordinate; outside of the grid, of those
    of the first or the last cell."""
    index = dnp.clip(dnp.searchsorted(points, x, side="right") - 1, 0, points.shape[0] - 2)
    low, high = points[index], points[index + 1]
    part = (x - low) / (high - low)
    if method == "nearest":
        return [(dnp.where(part <= 0.5, index, index + 1), None)]
    return [(index, 1 - part), (index + 1, part)]
