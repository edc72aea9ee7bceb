"""Resizing, scaling and moving of images: a product with a matrix of weights for each axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_core import here
from dovetail_jit import one_call
from dovetail_lax import dtypes

from .kernels import KERNELS, ResizeMethod, repeating_cubic

Array = Any
ArrayLike = Any
HIGHEST = lax.Precision.HIGHEST


@one_call("shape", "method", "antialias", "precision")
def resize(
    image: ArrayLike, shape: Sequence[int], method: str | ResizeMethod, antialias: bool = True,
    precision: Any = HIGHEST,
) -> Array:  # fmt: skip
    """``image`` in another shape; axes whose length stays are left alone.

    Elements have an extent: the first begins, and the last ends, where the image does ("half-pixel
    centers"). At the border the weights of elements that are not there are left out, but for
    ``cubic-pytorch`` without antialiasing, where the border is repeated.

    Args:
        image: an array of any number of dimensions; integers are converted to floating-point
            numbers, but for the method ``nearest``.
        method: how values between elements are found: a :class:`ResizeMethod` or its name:
            ``nearest``, ``linear`` (``bilinear``, ``trilinear``, ``triangle``), ``cubic``
            (``bicubic``, ``tricubic``), ``cubic-pytorch`` (``bicubic-pytorch``), ``lanczos3``,
            ``lanczos5``, ``area``.
        antialias: when an axis gets shorter, let kernels reach over as many input elements as an
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
    """``image`` scaled and moved, within a frame of the given shape.

    What was at ``x`` along an axis goes to ``x * scale + translation``. Elements of the result that
    the image does not reach are zero. Differentiable in ``image``, ``scale`` and ``translation``.

    Args:
        shape: of the result; the same as the image's on all but the spatial axes.
        spatial_dims: the axes that are scaled and moved.
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
        at = np.floor((np.arange(sizes[i]) + 0.5) * (n / sizes[i])) if sizes[i] else np.zeros(0)
        x = dnp.take(x, at.astype(np.int32).clip(0, n - 1), axis=i)
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
    """How much each of ``n`` elements (rows) weighs in each of ``m`` (columns)."""
    if not m:
        return dnp.zeros((n, 0), dtype)
    step = dnp.asarray(1 / scale, dtype)  # of the output, in elements of the input
    places, inputs = dnp.arange(m, dtype=dtype)[None], dnp.arange(n, dtype=dtype)[:, None]
    centers = (places + 0.5 - move) * step - 0.5
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
