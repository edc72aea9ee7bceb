"""Discrete Fourier transforms: ``dovetail.numpy.fft``."""

from __future__ import annotations

from math import prod, sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base import arguments
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_lax import dtypes

from .creation import placement
from .creation.arrays import as_array
from .fusion import fused
from .manipulation.rearranging import roll
from .manipulation.shapes import moveaxis
from .operands import Array, ArrayLike, DTypeLike, axis_index, axis_tuple, integer
from .operations import number, strong, transpose as permute
from .promotion import default_float, narrowed, promote
from .ufuncs.unary import conjugate

_NORMS = (None, "backward", "ortho", "forward")
_SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _checked_norm(name: str, norm: str | None) -> str:
    if norm is not None and not (isinstance(norm, str) and norm in _NORMS):
        raise ValueError(
            f"{name}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}{here()}"
        )
    return norm or "backward"


def _transform(name: str, kind: str, a: ArrayLike, s: Any, axes: Any, norm: str | None) -> Array:
    """Transforms along several axes, the last of them the real one of real transforms.

    Raises:
        ValueError: lengths are not positive or not as many as axes, an axis is out of bounds or
            repeated, or the norm is unknown.
    """
    (x,) = promote(name, a, inexact=True)
    x = as_array(name, x)
    x = lax.convert_element_type(x, np.float32 if x.dtype.itemsize < 4 else narrowed(x.dtype))
    s = None if s is None else arguments.items("s", s, arguments.integer)
    chosen = _checked_norm(name, norm)
    if axes is None:
        count = x.ndim if s is None else len(s)
        axes = tuple(range(x.ndim - count, x.ndim))
    axes = axis_tuple(name, axes, x.ndim)
    if not axes:
        return (
            strong(x)
            if kind in ("RFFT", "IRFFT")
            else lax.convert_element_type(x, _complex(x.dtype))
        )
    sizes = [x.shape[i] for i in axes]
    if s is not None:
        if len(s) != len(axes):
            raise ValueError(f"{name}: {len(s)} lengths for {len(axes)} axes{here()}")
        sizes = [integer(name, "every length", n) for n in s]
        if any(n < 1 for n in sizes):
            raise ValueError(f"{name}: lengths must be positive, got {tuple(sizes)}{here()}")
    elif kind == "IRFFT":
        sizes[-1] = max(0, 2 * (sizes[-1] - 1))
    if kind == "RFFT" and not sizes[-1]:
        raise ValueError(
            f"{name}: the last transformed axis, of an array of shape {x.shape}, "
            f"has no elements{here()}"
        )
    if kind == "RFFT" and x.dtype.kind == "c":
        raise ValueError(
            f"{name} takes real arrays, got dtype {x.dtype}{here()}. Use the complex transform."
        )
    if not all(sizes):
        return _empty(x, kind, sizes, axes)
    return _run(x, kind=kind, sizes=tuple(sizes), axes=axes, norm=chosen)


def _empty(x: Any, kind: str, sizes: list[int], axes: tuple[int, ...]) -> Any:
    """The transform along axes without elements: zeros, or an array without elements."""
    shape = list(x.shape)
    for axis, size in zip(axes, sizes):
        shape[axis] = size
    if kind == "RFFT":
        shape[axes[-1]] = sizes[-1] // 2 + 1
    dtype = _complex(x.dtype)
    return lax.full(shape, 0, dtype.type(0).real.dtype if kind == "IRFFT" else dtype)


def _complex(dtype: Any) -> Any:
    return dtypes.promote_types(dtype, np.complex64)


@fused(static=("kind", "sizes", "axes", "norm"))
def _run(x: Any, kind: str, sizes: Any, axes: Any, norm: str) -> Any:
    n = x.ndim
    kept = [i for i in range(n) if i not in axes]
    order = (*kept, *axes)
    x = permute(x, order)
    wanted = [d // 2 + 1 if kind == "IRFFT" and i == len(sizes) - 1 else d
              for i, d in enumerate(sizes)]  # fmt: skip
    x = _resized(x, wanted)
    x = _in_groups(x, kind, sizes)
    x = _scaled(x, kind, prod(sizes), norm)
    back = [0] * n
    for i, axis in enumerate(order):
        back[axis] = i
    return permute(x, tuple(back))


def _resized(x: Any, wanted: list[int]) -> Any:
    """The last axes cut off or filled with zeros to the wanted sizes."""
    first = x.ndim - len(wanted)
    config = [(0, d - x.shape[i + first], 0) for i, d in enumerate(wanted)]
    if all(c == (0, 0, 0) for c in config):
        return x
    return lax.pad(x, number(x, 0), [(0, 0, 0)] * first + config)


def _in_groups(x: Any, kind: str, sizes: tuple[int, ...]) -> Any:
    """The transform of all last axes: of up to three at once, of more one after the other."""
    if len(sizes) <= 3:
        return lax.fft(x, kind, sizes)
    last = x.ndim - 1
    if kind == "RFFT":
        x = lax.fft(x, kind, sizes[-1:])
    inner = "IFFT" if kind in ("IFFT", "IRFFT") else "FFT"
    for i, size in enumerate(sizes[:-1]):
        axis = x.ndim - len(sizes) + i
        x = moveaxis(lax.fft(moveaxis(x, axis, last), inner, (size,)), last, axis)
    return x if kind == "RFFT" else lax.fft(x, kind, sizes[-1:])


def _scaled(x: Any, kind: str, size: int, norm: str) -> Any:
    inverse = kind in ("IFFT", "IRFFT")
    factor = {"backward": 1.0, "ortho": sqrt(size) if inverse else 1 / sqrt(size),
              "forward": float(size) if inverse else 1.0 / size}[norm]  # fmt: skip
    return x if factor == 1.0 else lax.mul(x, number(x, factor))


def _one(n: int | None) -> Any:
    return None if n is None else (n,)


def _axis(name: str, axis: Any) -> Any:
    """The axis of a transform along one axis as a tuple; None means all axes."""
    if isinstance(axis, (tuple, list)):
        raise ValueError(f"{name} takes one axis, got {axis!r}{here()}. Use {name}n.")
    return None if axis is None else (axis,)


def fft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The discrete Fourier transform along an axis.

    Args:
        n: the length; longer axes are cut off, shorter ones filled with zeros.
        norm: ``"backward"`` (the default) divides by ``n`` in the inverse only, ``"forward"`` in
            this one only, ``"ortho"`` by its square root in both.
    """
    return _transform("fft", "FFT", a, _one(n), _axis("fft", axis), norm)


def ifft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse discrete Fourier transform along an axis (see :func:`fft`)."""
    return _transform("ifft", "IFFT", a, _one(n), _axis("ifft", axis), norm)


def rfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The transform of a real array: its first ``n // 2 + 1`` values, which determine the rest."""
    return _transform("rfft", "RFFT", a, _one(n), _axis("rfft", axis), norm)


def irfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of :func:`rfft`; ``n`` is the length of the result."""
    return _transform("irfft", "IRFFT", a, _one(n), _axis("irfft", axis), norm)


def hfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The transform of an array with Hermitian symmetry, given its first half; it is real."""
    norm = _SWAPPED[None if _checked_norm("hfft", norm) == "backward" else norm]
    return _transform("hfft", "IRFFT", conjugate(a), _one(n), _axis("hfft", axis), norm)


def ihfft(a: ArrayLike, n: int | None = None, axis: int = -1, norm: str | None = None) -> Array:
    """The inverse of :func:`hfft`."""
    norm = _SWAPPED[None if _checked_norm("ihfft", norm) == "backward" else norm]
    return conjugate(_transform("ihfft", "RFFT", a, _one(n), _axis("ihfft", axis), norm))


def fft2(a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The transform along two axes."""
    return _transform("fft2", "FFT", a, s, _two("fft2", axes), norm)


def ifft2(a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse transform along two axes."""
    return _transform("ifft2", "IFFT", a, s, _two("ifft2", axes), norm)


def rfft2(a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The transform of a real array along two axes."""
    return _transform("rfft2", "RFFT", a, s, _two("rfft2", axes), norm)


def irfft2(a: ArrayLike, s: Any = None, axes: Any = (-2, -1), norm: str | None = None) -> Array:
    """The inverse of :func:`rfft2`."""
    return _transform("irfft2", "IRFFT", a, s, _two("irfft2", axes), norm)


def _two(name: str, axes: Any) -> tuple[int, ...]:
    result = arguments.items("axes", axes)
    if len(result) != 2:
        raise ValueError(f"{name} takes two axes, got {result}{here()}")
    return result


def fftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The transform along several axes, by default all."""
    return _transform("fftn", "FFT", a, s, axes, norm)


def ifftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse transform along several axes, by default all."""
    return _transform("ifftn", "IFFT", a, s, axes, norm)


def rfftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The transform of a real array along several axes, by default all."""
    return _transform("rfftn", "RFFT", a, s, axes, norm)


def irfftn(a: ArrayLike, s: Any = None, axes: Any = None, norm: str | None = None) -> Array:
    """The inverse of :func:`rfftn`."""
    return _transform("irfftn", "IRFFT", a, s, axes, norm)


def _frequencies(name: str, values: Any, n: int, d: Any, dtype: Any, device: Any) -> Array:
    if isinstance(n, (tuple, list)) or np.ndim(n) > 0:
        raise ValueError(f"{name}: n is one integer, got {short_repr(n)}{here()}")
    if isinstance(d, (tuple, list)) or np.ndim(d) > 0:
        raise ValueError(f"{name}: d is one number, got {short_repr(d)}{here()}")
    size = integer(name, "n", n)
    if size < 0:
        raise ValueError(f"{name}: n must not be negative, got {size}{here()}")
    dt = default_float() if dtype is None else dtypes.as_dtype(dtype)
    steps = placement.constant(values(size).astype(dt))
    out = lax.div(steps, lax.mul(lax.convert_element_type(as_array(name, d), dt), dt.type(size)))
    return out if device is None else placement.to_device(out, device)


def fftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """The frequencies that the values of :func:`fft` belong to, for samples ``d`` apart."""
    return _frequencies(
        "fftfreq", lambda n: np.roll(np.arange(-(n // 2), (n + 1) // 2), (n + 1) // 2),
        n, d, dtype, device,
    )  # fmt: skip


def rfftfreq(n: int, d: ArrayLike = 1.0, *, dtype: DTypeLike = None, device: Any = None) -> Array:
    """The frequencies that the values of :func:`rfft` belong to, for samples ``d`` apart."""
    return _frequencies("rfftfreq", lambda n: np.arange(n // 2 + 1), n, d, dtype, device)


def _shift(name: str, x: ArrayLike, axes: Any, sign: int) -> Array:
    x = as_array(name, x)
    given = axis_tuple(name, axes, x.ndim) if not isinstance(axes, int) else (
        axis_index(name, axes, x.ndim),)  # fmt: skip
    halves = [n // 2 if sign > 0 else -(n // 2) for n in (x.shape[i] for i in given)]
    return roll(x, halves, given) if given else x


def fftshift(x: ArrayLike, axes: Any = None) -> Array:
    """``x`` with the value of frequency zero moved to the middle."""
    return _shift("fftshift", x, axes, 1)


def ifftshift(x: ArrayLike, axes: Any = None) -> Array:
    """The inverse of :func:`fftshift`."""
    return _shift("ifftshift", x, axes, -1)


__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip
