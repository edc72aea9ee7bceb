"""Initializers that scale a distribution by the numbers of inputs and outputs of a layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, pi, prod, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_base import arguments
from dovetail_base.arguments import items
from dovetail_core import here, type_shardings

from .basic import Array, DTypeLike, Initializer, as_dtype

Axes = int | Sequence[int]
MODES = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
CUT_REAL = 0.87962566103423978
"""Standard deviation of the normal distribution cut off at -2 and 2."""
CUT_COMPLEX = 0.95311164380491208
"""Standard deviation of the complex normal distribution cut off at absolute value 2."""


def variance_scaling(
    scale: Any,
    mode: str,
    distribution: str,
    in_axis: Axes = -2,
    out_axis: Axes = -1,
    batch_axis: Axes = (),
    dtype: DTypeLike = None,
) -> Initializer:
    """An initializer whose variance is ``scale / fan``.

    Args:
        scale: a positive number.
        mode: what ``fan`` is: ``"fan_in"``, the number of inputs of an output, ``"fan_out"``, the
            number of outputs of an input, ``"fan_avg"`` or ``"fan_geo_avg"``, their mean.
        distribution: ``"truncated_normal"`` (cut off at two standard deviations, and scaled to
            have the variance nevertheless), ``"normal"`` or ``"uniform"``.
        in_axis, out_axis: the axes of inputs and of outputs.
        batch_axis: axes that count for neither. All others are those of a receptive field.
        dtype: the default dtype of what it makes.

    Raises:
        ValueError: (the initializer) there is no such mode or distribution, or the shape lacks an
            axis.
    """
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        result = as_dtype(dtype)
        fan = _fan(items("shape", shape), mode, in_axis, out_axis, batch_axis)
        draw = _DRAWS.get(distribution)
        if draw is None:
            raise ValueError(
                "variance_scaling: distribution must be one of "
                f"{', '.join(map(repr, _DRAWS))}, got {distribution!r}{here()}"
            )
        variance = (
            np.asarray(scale / fan, result) if isinstance(scale, (int, float)) else scale / fan
        )
        return draw(key, tuple(shape), result, variance)

    return init


def _fan(
    shape: tuple[int, ...], mode: str, in_axis: Axes, out_axis: Axes, batch_axis: Axes
) -> float:
    if mode not in MODES:
        raise ValueError(
            f"variance_scaling: mode must be one of "
            f"{', '.join(map(repr, MODES))}, got {mode!r}{here()}"
        )
    if len(shape) <= 1 and in_axis == -2:
        raise ValueError(
            "an initializer with the default in_axis=-2 needs a shape of two dimensions or more, "
            f"got {shape}{here()}. Say which axis holds the inputs with in_axis."
        )
    inputs, outputs, batch = (_size(shape, a) for a in (in_axis, out_axis, batch_axis))
    if not prod(shape):
        return 1.0  # of no elements
    field = prod(shape) / inputs / outputs / batch
    fans = {"fan_in": inputs * field, "fan_out": outputs * field}
    fans["fan_avg"] = (fans["fan_in"] + fans["fan_out"]) / 2
    fans["fan_geo_avg"] = sqrt(fans["fan_in"] * fans["fan_out"])
    return fans[mode]


def _size(shape: tuple[int, ...], axes: Axes) -> int:
    result = arguments.integers("in_axis, out_axis and batch_axis", axes)
    if any(not -len(shape) <= a < len(shape) for a in result):
        raise ValueError(
            f"in_axis, out_axis or batch_axis {axes} is out of bounds for {shape}{here()}"
        )
    return prod(shape[a] for a in result)


def _normal(key: Any, shape: Any, dtype: Any, variance: Any) -> Array:
    return dnp.multiply(random.normal(key, shape, dtype), dnp.sqrt(variance))


def _uniform(key: Any, shape: Any, dtype: Any, variance: Any) -> Array:
    if dtype.kind == "c":
        # The mean of |z|**2 over the unit disc is 1/2.
        radius = dnp.sqrt(dnp.multiply(variance, dnp.asarray(2, dtype)))
        return dnp.multiply(_disc(key, shape, dtype, lambda u: u), radius)
    draws = random.uniform(key, shape, dtype, -1)
    return dnp.multiply(draws, dnp.sqrt(dnp.multiply(variance, dnp.asarray(3, dtype))))


def _truncated(key: Any, shape: Any, dtype: Any, variance: Any) -> Array:
    if dtype.kind == "c":
        # |z|**2 of a complex normal z is exponential: cut off at 4, by inversion.
        cut = 1 - exp(-4.0)
        z = _disc(
            key, shape, dtype, lambda u: lax.neg(dnp.log(dnp.subtract(1, dnp.multiply(u, cut))))
        )
        return dnp.multiply(z, dnp.divide(dnp.sqrt(variance), CUT_COMPLEX))
    stddev = dnp.divide(dnp.sqrt(variance), dnp.asarray(CUT_REAL, dtype))
    return dnp.multiply(random.truncated_normal(key, -2, 2, shape, dtype), stddev)


def _disc(key: Any, shape: Any, dtype: Any, square: Callable[[Any], Any]) -> Array:
    """Complex numbers of a uniform phase; ``square`` makes squared lengths of uniform numbers."""
    of_length, of_phase = random.split(key)
    real = np.dtype(np.float32 if dtype.itemsize == 8 else np.float64)
    length = dnp.sqrt(square(random.uniform(of_length, shape, real)))
    phase = dnp.multiply(random.uniform(of_phase, shape, real), real.type(2 * pi))
    turn = lax.complex(lax.full_like(phase, 0), phase)
    return dnp.multiply(length.astype(dtype), dnp.exp(turn))


_DRAWS: dict[str, Callable[..., Array]] = {
    "truncated_normal": _truncated,
    "normal": _normal,
    "uniform": _uniform,
}


def _preset(name: str, scale: float, mode: str, distribution: str, what: str) -> Any:
    def function(
        in_axis: Axes = -2, out_axis: Axes = -1, batch_axis: Axes = (), dtype: DTypeLike = None
    ) -> Initializer:
        return variance_scaling(scale, mode, distribution, in_axis, out_axis, batch_axis, dtype)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"""{what}: ``variance_scaling({scale}, {mode!r}, {distribution!r})``.

    Arguments are those of :func:`variance_scaling`.
    """
    return function


glorot_uniform = _preset("glorot_uniform", 1.0, "fan_avg", "uniform", "Glorot's initializer")
glorot_normal = _preset("glorot_normal", 1.0, "fan_avg", "truncated_normal", "Glorot's initializer")
lecun_uniform = _preset("lecun_uniform", 1.0, "fan_in", "uniform", "LeCun's initializer")
lecun_normal = _preset("lecun_normal", 1.0, "fan_in", "truncated_normal", "LeCun's initializer")
he_uniform = _preset("he_uniform", 2.0, "fan_in", "uniform", "He's initializer")
he_normal = _preset("he_normal", 2.0, "fan_in", "truncated_normal", "He's initializer")
xavier_uniform, xavier_normal = glorot_uniform, glorot_normal
kaiming_uniform, kaiming_normal = he_uniform, he_normal
