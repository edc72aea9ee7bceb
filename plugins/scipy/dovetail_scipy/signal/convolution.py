"""Convolution and correlation of arrays of any number of dimensions."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact_arrays, one_of

_MODES = ("full", "same", "valid")
Shape = tuple[int, ...]


def _pair(name: str, in1: Any, in2: Any, ndim: int | None = None) -> tuple[Any, Any]:
    """Two arrays of one floating-point type and number of dimensions.

    Raises:
        ValueError: numbers of dimensions differ, or there are no elements.
    """
    x, y = inexact_arrays(name, in1, in2)
    if x.ndim != y.ndim or (ndim is not None and x.ndim != ndim):
        what = "arrays with equal numbers of dimensions" if ndim is None else "matrices"
        raise ValueError(f"{name} takes {what}, got shapes {x.shape} and {y.shape}{here()}")
    if not x.size or not y.size:
        raise ValueError(
            f"{name}: arrays cannot be empty, got shapes {x.shape} and {y.shape}{here()}"
        )
    return x, y


def _larger_first(name: str, mode: str, x: Any, y: Any, axes: Any = None) -> tuple[Any, Any]:
    """The arrays, for the mode ``valid`` in the order in which the first one is the larger."""
    one_of(name, "mode", mode, _MODES)
    if mode != "valid":
        return x, y
    sizes = [(x.shape[i], y.shape[i]) for i in (range(x.ndim) if axes is None else axes)]
    if all(n >= m for n, m in sizes):
        return x, y
    if all(n <= m for n, m in sizes):
        return y, x
    raise ValueError(
        f"{name}: for mode 'valid' one array must be as large as the other along each axis, got "
        f"shapes {x.shape} and {y.shape}{here()}"
    )


@reword_errors
def convolve(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The convolution of two arrays of as many dimensions.

    Args:
        mode: ``"full"``: wherever they overlap; ``"same"``: the middle part of the size of ``in1``;
            ``"valid"``: where they overlap completely.
        method: ``"direct"`` or ``"auto"``: as sums of products; ``"fft"``: by
            :func:`fftconvolve`, which is quicker for large arrays and less exact for small values.
        precision: of the products (see ``lax.Precision``).

    Raises:
        ValueError: numbers of dimensions differ, an array is empty, or an option is unknown.
    """
    return _convolve("convolve", in1, in2, mode, method, precision, False)


@reword_errors
def correlate(
    in1: ArrayLike, in2: ArrayLike, mode: str = "full", method: str = "auto", precision: Any = None
) -> Array:
    """The correlation of two arrays: the convolution with the second conjugated and reversed.

    See :func:`convolve` for the arguments.
    """
    return _convolve("correlate", in1, in2, mode, method, precision, True)


def _convolve(
    name: str, in1: Any, in2: Any, mode: str, method: str, precision: Any, reverse: bool
) -> Array:
    one_of(name, "method", method, ("auto", "direct", "fft"))
    x, y = _pair(name, in1, in2)
    if reverse:
        y = _reversed(y)
    x, y = _larger_first(name, mode, x, y)
    if not x.ndim:
        return x * y
    if method == "fft":
        return _by_fft(x, y, mode=mode, axes=tuple(range(x.ndim)))
    pads = _paddings(y.shape, mode, False)
    return _direct(x, y, pads=pads, precision=precision)


def _reversed(x: Any) -> Any:
    x = dnp.flip(x) if x.ndim else x
    return dnp.conj(x) if x.dtype.kind == "c" else x


@fused(static=("pads", "precision"))
def _direct(x: Any, y: Any, pads: tuple[tuple[int, int], ...], precision: Any) -> Any:
    out = lax.conv_general_dilated(
        x[None, None], dnp.flip(y)[None, None], (1,) * x.ndim, pads, precision=precision
    )
    return out[0, 0]


def _paddings(sizes: Shape, mode: str, later: bool) -> tuple[tuple[int, int], ...]:
    """The numbers of zeros before and after the first array along each axis.

    Args:
        sizes: the shape of the second array.
        later: if there are two middle parts for the mode ``same``, take the later one.
    """
    if mode == "valid":
        return tuple((0, 0) for _ in sizes)
    if mode == "full":
        return tuple((m - 1, m - 1) for m in sizes)
    starts = [m // 2 if later else (m - 1) // 2 for m in sizes]
    return tuple((m - 1 - start, start) for m, start in zip(sizes, starts))


_BOUNDARIES = {"fill": "constant", "wrap": "wrap", "symm": "symmetric"}


@reword_errors
def convolve2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The convolution of two matrices.

    Args:
        mode: as of :func:`convolve`.
        boundary: the values of ``in1`` beyond its edges: ``"fill"``: ``fillvalue``; ``"wrap"``:
            those from the other side; ``"symm"``: mirrored.
        precision: of the products.

    Raises:
        ValueError: an argument is no matrix or empty, or an option is unknown.
    """
    return _convolve2d("convolve2d", in1, in2, mode, boundary, fillvalue, precision, False)


@reword_errors
def correlate2d(
    in1: ArrayLike,
    in2: ArrayLike,
    mode: str = "full",
    boundary: str = "fill",
    fillvalue: float = 0,
    precision: Any = None,
) -> Array:
    """The correlation of two matrices (see :func:`convolve2d`)."""
    return _convolve2d("correlate2d", in1, in2, mode, boundary, fillvalue, precision, True)


def _convolve2d(
    name: str, in1: Any, in2: Any, mode: str, boundary: str, fill: Any, precision: Any, rev: bool
) -> Array:
    one_of(name, "boundary", boundary, tuple(_BOUNDARIES))
    x, y = _pair(name, in1, in2, 2)
    y = _reversed(y) if rev else y
    x, y = _larger_first(name, mode, x, y)
    pads = _paddings(y.shape, mode, rev)
    if mode == "valid" or (boundary == "fill" and fill.__class__ in (int, float) and fill == 0):
        return _direct(x, y, pads=pads, precision=precision)
    options = {"constant_values": fill} if boundary == "fill" else {}
    wide = dnp.pad(x, pads, mode=_BOUNDARIES[boundary], **options)
    return _direct(wide, y, pads=_paddings(y.shape, "valid", rev), precision=precision)


@reword_errors
def fftconvolve(in1: ArrayLike, in2: ArrayLike, mode: str = "full", axes: Any = None) -> Array:
    """The convolution of two arrays along some axes, by Fourier transforms.

    Args:
        mode: as of :func:`convolve`.
        axes: along which, by default all; the others broadcast.

    Raises:
        ValueError: numbers of dimensions differ, an array is empty, an axis is out of bounds or
            given twice, or the mode is unknown.
    """
    x, y = _pair("fftconvolve", in1, in2)
    given = range(x.ndim) if axes is None else (axes,) if isinstance(axes, int) else axes
    along = tuple(arguments.integer("axes", a) for a in given)
    if any(not -x.ndim <= a < x.ndim for a in along) or len({a % x.ndim for a in along}) != len(
        along
    ):
        raise ValueError(
            f"fftconvolve: axes {along} of arrays of shapes {x.shape} and {y.shape}{here()}: name "
            f"each axis once, from {-x.ndim} to {x.ndim - 1}."
        )
    along = tuple(a % x.ndim for a in along)
    for i in range(x.ndim):
        if i not in along and 1 not in (x.shape[i], y.shape[i]) and x.shape[i] != y.shape[i]:
            raise ValueError(
                f"fftconvolve: shapes {x.shape} and {y.shape} do not broadcast along axis {i}"
                f"{here()}"
            )
    x, y = _larger_first("fftconvolve", mode, x, y, along)
    return x * y if not along else _by_fft(x, y, mode=mode, axes=along)


@fused(static=("mode", "axes"))
def _by_fft(x: Any, y: Any, mode: str, axes: Shape) -> Any:
    sizes = [x.shape[i] + y.shape[i] - 1 for i in axes]
    if x.dtype.kind == "c":
        out = dnp.fft.ifftn(
            dnp.fft.fftn(x, sizes, axes) * dnp.fft.fftn(y, sizes, axes), sizes, axes
        )
    else:
        out = dnp.fft.irfftn(
            dnp.fft.rfftn(x, sizes, axes) * dnp.fft.rfftn(y, sizes, axes), sizes, axes
        )
    for i in axes:
        n, m = x.shape[i], y.shape[i]
        start, stop = {"full": (0, n + m - 1), "same": ((m - 1) // 2, (m - 1) // 2 + n),
                       "valid": (m - 1, n)}[mode]  # fmt: skip
        out = lax.slice_in_dim(out, start, stop, axis=i)
    return lax.convert_element_type(out, x.dtype)
