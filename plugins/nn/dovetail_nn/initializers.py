"""Initializers of parameters: the public names of ``jax.nn.initializers``.

An initializer is a function of a key, a shape and a dtype.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, pi, prod, sqrt
from typing import Any, Protocol, runtime_checkable

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_base import arguments
from dovetail_core import here, type_shardings
from dovetail_lax import dtypes

__all__ = [
    "Initializer", "constant", "delta_orthogonal", "glorot_normal", "glorot_uniform", "he_normal",
    "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal", "lecun_uniform", "normal",
    "ones", "orthogonal", "truncated_normal", "uniform", "variance_scaling", "xavier_normal",
    "xavier_uniform", "zeros",
]  # fmt: skip

Array = Any
DTypeLike = Any
Axes = int | Sequence[int]
MODES = ("fan_in", "fan_out", "fan_avg", "fan_geo_avg")
CUT_REAL = 0.87962566103423978
"""Standard deviation of the normal distribution cut off at -2 and 2."""
CUT_COMPLEX = 0.95311164380491208
"""Standard deviation of the complex normal distribution cut off at absolute value 2."""


@runtime_checkable
class Initializer(Protocol):
    """A function that makes the initial value of a parameter from a random key, shape and dtype."""

    def __call__(
        self, key: Any, shape: Sequence[int], dtype: DTypeLike = ..., out_sharding: Any = ...
    ) -> Array: ...


def _initializer(make: Callable[..., Array], default: DTypeLike, **about: str) -> Initializer:
    """The initializer that calls ``make(key, shape, dtype)``; ``default`` is its default dtype.

    ``about`` has its name and docstring, if it is public.
    """

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        return make(key, shape, dtypes.as_dtype(float if dtype is None else dtype))

    if about:
        init.__name__ = init.__qualname__ = about["name"]
        init.__doc__ = about["doc"]
    return init


zeros: Initializer = _initializer(
    lambda key, shape, dtype: dnp.zeros(shape, dtype),
    None,
    name="zeros",
    doc="Zeros; the key is not used.",
)
ones: Initializer = _initializer(
    lambda key, shape, dtype: dnp.ones(shape, dtype),
    None,
    name="ones",
    doc="Ones; the key is not used.",
)


def constant(value: Any, dtype: DTypeLike = None) -> Initializer:
    """An initializer that returns ``value``, broadcast to the shape."""
    return _initializer(lambda key, shape, dtype: dnp.full(shape, value, dtype), dtype)


def uniform(scale: Any = 1e-2, dtype: DTypeLike = None) -> Initializer:
    """An initializer that draws from the uniform distribution on ``[0, scale)``."""
    return _initializer(lambda *args: _scaled(random.uniform(*args), scale), dtype)


def normal(stddev: Any = 1e-2, dtype: DTypeLike = None) -> Initializer:
    """An initializer that draws from the normal distribution of a standard deviation."""
    return _initializer(lambda *args: _scaled(random.normal(*args), stddev), dtype)


def truncated_normal(
    stddev: Any = 1e-2, dtype: DTypeLike = None, lower: Any = -2.0, upper: Any = 2.0
) -> Initializer:
    """An initializer that draws from the normal distribution cut off at ``lower`` and ``upper``.

    The bounds are those before the multiplication by ``stddev``, which is the standard deviation
    of the distribution that is cut.
    """

    def make(key: Any, shape: Any, dtype: Any) -> Array:
        return _scaled(random.truncated_normal(key, lower, upper, shape, dtype), stddev)

    return _initializer(make, dtype)


def _scaled(x: Array, scale: Any) -> Array:
    """``x * scale`` in the dtype of ``x``."""
    return dnp.multiply(x, dnp.asarray(scale, x.dtype))


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike = None) -> Initializer:
    """An initializer of uniformly distributed orthogonal matrices, times ``scale``.

    Args:
        scale: a number.
        column_axis: the axis of the columns; all others together are the rows.
        dtype: the default dtype of the matrices.

    Raises:
        ValueError: (the initializer) the shape has less than two dimensions.
    """

    def make(key: Any, shape: Any, dtype: Any) -> Array:
        shape = arguments.integers("shape", shape)
        if len(shape) < 2:
            raise ValueError(
                "the orthogonal initializer needs a shape of two dimensions or more, got "
                f"{tuple(shape)}{here()}"
            )
        n = shape[_column(column_axis, shape)]
        rest = [d for i, d in enumerate(shape) if i != column_axis % len(shape)]
        q = random.orthogonal(key, n, (), dtype, prod(rest))
        if n == prod(rest):  # transposed, as in JAX
            q = dnp.matrix_transpose(q)
        elif n < prod(rest):  # rows with the phases of the columns that were drawn
            q = dnp.conj(q)
        return _scaled(dnp.moveaxis(dnp.reshape(q, (n, *rest)), 0, column_axis), scale)

    return _initializer(make, dtype)


def delta_orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike = None
) -> Initializer:
    """An initializer of convolution kernels: orthogonal at the centre, zero elsewhere.

    Args:
        scale, column_axis, dtype: as in :func:`orthogonal`.

    Raises:
        ValueError: (the initializer) the shape has not 3, 4 or 5 dimensions, or more inputs (the
            axis before the last) than outputs (the last axis).
    """

    def make(key: Any, shape: Any, dtype: Any) -> Array:
        shape = arguments.integers("shape", shape)
        if len(shape) not in (3, 4, 5):
            raise ValueError(
                f"the delta-orthogonal initializer needs a shape of 3, 4 or 5 dimensions, got "
                f"{tuple(shape)}{here()}"
            )
        if shape[-1] < shape[-2]:
            raise ValueError(
                "the delta-orthogonal initializer needs at least as many outputs (the last axis) "
                f"as inputs, got shape {tuple(shape)}{here()}"
            )
        matrix = orthogonal(scale, column_axis, dtype)(key, tuple(shape[-2:]), dtype)
        centre = tuple([(d - 1) // 2 for d in shape[:-2]])
        return dnp.zeros(shape, dtype).at[centre].set(matrix)

    return _initializer(make, dtype)


def _column(axis: Any, shape: Sequence[int]) -> int:
    result = arguments.integer("column_axis", axis)
    if not -len(shape) <= result < len(shape):
        raise ValueError(f"column_axis {axis} is out of bounds for the shape {shape}{here()}")
    return result


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
        mode: the definition of ``fan``: ``"fan_in"``, the number of inputs of an output,
            ``"fan_out"``, the number of outputs of an input, ``"fan_avg"`` or ``"fan_geo_avg"``,
            their mean.
        distribution: ``"truncated_normal"`` (cut off at two standard deviations, and scaled to
            the variance), ``"normal"`` or ``"uniform"``.
        in_axis, out_axis: the axes of inputs and of outputs.
        batch_axis: axes that count for neither. All others are those of a receptive field.
        dtype: the default dtype of values.

    Raises:
        ValueError: (the initializer) there is no such mode or distribution, or the shape lacks an
            axis.
    """

    def make(key: Any, shape: Any, dtype: Any) -> Array:
        fan = _fan(arguments.items("shape", shape), mode, in_axis, out_axis, batch_axis)
        draw = _DRAWS.get(distribution)
        if draw is None:
            raise ValueError(
                "variance_scaling: distribution must be one of "
                f"{', '.join(map(repr, _DRAWS))}, got {distribution!r}{here()}"
            )
        variance = (
            np.asarray(scale / fan, dtype) if isinstance(scale, (int, float)) else scale / fan
        )
        return draw(key, tuple(shape), dtype, variance)

    return _initializer(make, dtype)


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
            f"got {shape}{here()}. Give the axis of the inputs as in_axis."
        )
    inputs, outputs, batch = (_size(shape, a) for a in (in_axis, out_axis, batch_axis))
    if not prod(shape):
        return 1.0  # there are no elements
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
