"""Resizing, scaling and translation of images: the public names of ``jax.image``.

Along each axis the result is a product with a matrix of weights. The weights of an output element
are a kernel of its distance to the input elements, in units of input elements, and add up to one.
Cubic convolution: R. G. Keys, "Cubic Convolution Interpolation for Digital Image Processing", IEEE
Transactions on Acoustics, Speech, and Signal Processing 29 (1981). Lanczos' kernel: C. E. Duchon,
"Lanczos Filtering in One and Two Dimensions", Journal of Applied Meteorology 18 (1979).
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from functools import partial
from math import pi
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_core import here
from dovetail_jit import one_call
from dovetail_lax import dtypes

Array = Any
ArrayLike = Any
HIGHEST = lax.Precision.HIGHEST


class ResizeMethod(enum.Enum):
    """Methods of interpolation between elements."""

    NEAREST = 0
    """The nearest element."""
    LINEAR = 1
    """Linear interpolation."""
    LANCZOS3 = 2
    """Lanczos' windowed sinc that reaches over 3 elements."""
    LANCZOS5 = 3
    """Lanczos' windowed sinc that reaches over 5 elements."""
    CUBIC = 4
    """Keys' cubic convolution, parameter -1/2."""
    CUBIC_PYTORCH = 5
    """As PyTorch's: ``CUBIC`` with antialiasing. Without it, cubic convolution with the parameter
    -3/4, in which elements at the border also represent those beyond it."""
    AREA = 6
    """The mean over the part of the input that an element of the output covers."""

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """The method of a name such as ``"bilinear"``.

        Raises:
            ValueError: there is none.
        """
        if s not in _NAMES:
            raise ValueError(
                f"there is no method {s!r} of resizing{here()}. Methods are "
                f"{', '.join(map(repr, _NAMES))}."
            )
        return _NAMES[s]


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    "linear": ResizeMethod.LINEAR, "bilinear": ResizeMethod.LINEAR,
    "trilinear": ResizeMethod.LINEAR, "triangle": ResizeMethod.LINEAR,
    "lanczos3": ResizeMethod.LANCZOS3, "lanczos5": ResizeMethod.LANCZOS5,
    "cubic": ResizeMethod.CUBIC, "bicubic": ResizeMethod.CUBIC, "tricubic": ResizeMethod.CUBIC,
    "cubic-pytorch": ResizeMethod.CUBIC_PYTORCH, "bicubic-pytorch": ResizeMethod.CUBIC_PYTORCH,
    "area": ResizeMethod.AREA,
}  # fmt: skip


def triangle(x: Any) -> Any:
    """``1 - x`` up to 1, of distances ``x >= 0``."""
    return dnp.maximum(0, 1 - x)


def repeating_cubic(distances: Any) -> Any:
    """Weights of cubic convolution, parameter -3/4, where the border is repeated beyond itself.

    ``distances`` are those of inputs (rows, one element each) below outputs (columns).
    """
    n = distances.shape[0]
    result = cubic(dnp.abs(distances), -0.75)
    for step in (1, 2):  # as far beyond the border as the kernel reaches from within
        result = result.at[0].add(cubic(dnp.abs(distances[0] + step), -0.75))
        result = result.at[n - 1].add(cubic(dnp.abs(distances[n - 1] - step), -0.75))
    return result


def cubic(x: Any, a: float) -> Any:
    """Keys' kernel with the parameter ``a``: cubics up to 1 and from there to 2."""
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = a * (((x - 5) * x + 8) * x - 4)
    return dnp.where(x < 1, near, dnp.where(x < 2, far, 0))


def lanczos(x: Any, radius: float) -> Any:
    """``sinc(x) sinc(x / radius)`` up to ``radius``."""
    inside = (x > 1e-3) & (x < radius)
    y = dnp.where(inside, x, 1) * pi
    out = radius * dnp.sin(y) * dnp.sin(y / radius) / (y * y)
    # near 0 the sines lose digits: 1 - (pi x)^2 (1 + 1 / radius^2) / 6
    least = 1 - (pi * x) ** 2 * (1 + radius**-2) / 6
    return dnp.where(inside, out, dnp.where(x < radius, least, 0))


KERNELS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: triangle,
    ResizeMethod.LANCZOS3: partial(lanczos, radius=3.0),
    ResizeMethod.LANCZOS5: partial(lanczos, radius=5.0),
    ResizeMethod.CUBIC: partial(cubic, a=-0.5),
    ResizeMethod.CUBIC_PYTORCH: partial(cubic, a=-0.5),
}


@one_call("shape", "method", "antialias", "precision")
def resize(
    image: ArrayLike, shape: Sequence[int], method: str | ResizeMethod, antialias: bool = True,
    precision: Any = HIGHEST,
) -> Array:  # fmt: skip
    """``image`` resized to another shape; only axes whose length changes are resampled.

    Elements have an extent: the first begins, and the last ends, where the image does ("half-pixel
    centers"). At the border the weights of missing elements are left out, except for
    ``cubic-pytorch`` without antialiasing, which repeats the border.

    Args:
        image: an array of any number of dimensions; integers are converted to floating-point
            numbers, except for the method ``nearest``.
        method: the interpolation between elements: a :class:`ResizeMethod` or its name:
            ``nearest``, ``linear`` (``bilinear``, ``trilinear``, ``triangle``), ``cubic``
            (``bicubic``, ``tricubic``), ``cubic-pytorch`` (``bicubic-pytorch``), ``lanczos3``,
            ``lanczos5``, ``area``.
        antialias: if an axis gets shorter, let kernels reach over as many input elements as an
            output element covers, so that no frequencies alias.
        precision: of the products.

    Raises:
        TypeError: ``image`` is no array, or a length no integer.
        ValueError: ``shape`` is of another length than the image's, or the method is unknown.
    """
    x, sizes = dnp.asarray(image), arguments.integers("shape", shape)
    if len(sizes) != x.ndim or any(n < 0 for n in sizes):
        raise ValueError(
            f"resize: shape must be one length for each of the {x.ndim} axes of an image of shape "
            f"{x.shape}, got {sizes}{here()}"
        )
    method = _method(method)
    axes = [i for i in range(x.ndim) if sizes[i] != x.shape[i]]
    if any(not x.shape[i] for i in axes):
        raise ValueError(f"resize: an image of shape {x.shape} has no elements{here()}")
    if method is ResizeMethod.NEAREST:
        return _nearest(x, sizes, axes)
    x = _inexact(x)
    scales = [sizes[i] / x.shape[i] for i in axes]
    return _resampled(x, sizes, axes, scales, [0.0] * len(axes), method, antialias, precision)


def scale_and_translate(
    image: ArrayLike, shape: Sequence[int], spatial_dims: Sequence[int], scale: ArrayLike,
    translation: ArrayLike, method: str | ResizeMethod, antialias: bool = True,
    precision: Any = HIGHEST,
) -> Array:  # fmt: skip
    """``image`` scaled and translated, within a frame of the given shape.

    The element at ``x`` along an axis moves to ``x * scale + translation``. Elements of the result
    beyond the image are zero. Differentiable in ``image``, ``scale`` and ``translation``.

    Args:
        shape: of the result; the same as the image's on all but the spatial axes.
        spatial_dims: the axes that are scaled and translated.
        scale, translation: one number for each spatial axis.
        method, antialias, precision: as of :func:`resize`; not ``nearest``.

    Raises:
        TypeError: ``image`` is no array, or a length or an axis no integer.
        ValueError: lengths do not fit, an axis is given twice or is out of bounds, or the method
            is unknown or ``nearest``.
    """
    x, sizes = _inexact(dnp.asarray(image)), arguments.integers("shape", shape)
    axes = _axes(x, arguments.integers("spatial_dims", spatial_dims))
    if len(sizes) != x.ndim or any(
        (sizes[i] != x.shape[i] and i not in axes) or sizes[i] < 0 for i in range(x.ndim)
    ):
        raise ValueError(
            f"scale_and_translate: shape {sizes} must be that of the image, {x.shape}, on all but "
            f"the spatial axes {tuple(axes)}{here()}"
        )
    method = _method(method)
    if method is ResizeMethod.NEAREST:
        raise ValueError(
            f"scale_and_translate does not take the method 'nearest'{here()}: it has no "
            "derivatives. Use 'linear', or resize."
        )
    scales = _vector("scale", scale, len(axes))
    moves = _vector("translation", translation, len(axes))
    return _resampled(x, sizes, axes, scales, moves, method, antialias, precision)


def _method(method: Any) -> ResizeMethod:
    return ResizeMethod.from_string(method) if isinstance(method, str) else ResizeMethod(method)


def _inexact(x: Any) -> Any:
    return x if dtypes.issubdtype(x.dtype, np.inexact) else x.astype(dtypes.as_dtype(float))


def _axes(x: Any, given: tuple[int, ...]) -> list[int]:
    result = [i + x.ndim if i < 0 else i for i in given]
    if len(set(result)) != len(result) or any(not 0 <= i < x.ndim for i in result):
        raise ValueError(
            f"scale_and_translate: spatial_dims {given} are not different axes of an image of "
            f"shape {x.shape}{here()}"
        )
    return result


def _vector(name: str, value: Any, length: int) -> list[Any]:
    result = dnp.asarray(value)
    if result.shape != (length,):
        raise ValueError(
            f"scale_and_translate: {name} must be one number for each of the {length} spatial "
            f"axes, got shape {result.shape}{here()}"
        )
    return [result[i] for i in range(length)]


def _nearest(x: Any, sizes: Sequence[int], axes: Sequence[int]) -> Any:
    for i in axes:
        n = x.shape[i]
        positions = (
            np.floor((np.arange(sizes[i]) + 0.5) * (n / sizes[i])) if sizes[i] else np.zeros(0)
        )
        x = dnp.take(x, positions.astype(np.int32).clip(0, n - 1), axis=i)
    return x


def _resampled(
    x: Any, sizes: Sequence[int], axes: Sequence[int], scales: Sequence[Any],
    moves: Sequence[Any], method: ResizeMethod, antialias: bool, precision: Any,
) -> Any:  # fmt: skip
    real = dtypes.finfo(x.dtype).dtype
    wide = np.dtype(np.float32) if real.itemsize < 4 else real
    for i, scale, move in zip(axes, scales, moves):
        weights = _weights(x.shape[i], sizes[i], scale, move, method, antialias, wide)
        product = dnp.tensordot(x, weights.astype(x.dtype), (i, 0), precision=precision)
        x = dnp.moveaxis(product, -1, i)
    return x


def _weights(
    n: int, m: int, scale: Any, move: Any, method: ResizeMethod, antialias: bool, dtype: Any
) -> Any:
    """The weights of ``n`` input elements (rows) in each of ``m`` output elements (columns)."""
    if not m:
        return dnp.zeros((n, 0), dtype)
    step = dnp.asarray(1 / scale, dtype)  # of the output, in elements of the input
    outputs, inputs = dnp.arange(m, dtype=dtype)[None], dnp.arange(n, dtype=dtype)[:, None]
    centers = (outputs + 0.5 - move) * step - 0.5
    if method is ResizeMethod.AREA:
        low = dnp.maximum(centers + 0.5 - step / 2, inputs)
        result = dnp.maximum(0, dnp.minimum(centers + 0.5 + step / 2, inputs + 1) - low)
    else:
        reach = dnp.maximum(step, 1) if antialias else 1
        repeats = method is ResizeMethod.CUBIC_PYTORCH and not antialias
        distances = centers - inputs
        result = (
            repeating_cubic(distances) if repeats else KERNELS[method](dnp.abs(distances) / reach)
        )
    total = result.sum(0, keepdims=True)
    is_reached = dnp.abs(total) > 1000 * float(dtypes.finfo(dtype).eps)
    is_inside = (centers >= -0.5) & (centers <= n - 0.5)
    result = dnp.where(is_reached, result / dnp.where(is_reached, total, 1), 0)
    return dnp.where(is_inside, result, 0).astype(dtype)


__all__ = ["ResizeMethod", "resize", "scale_and_translate"]
