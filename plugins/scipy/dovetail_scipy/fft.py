"""Discrete cosine transforms, of SciPy's four types."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_jit import fused

from .arguments import Array, ArrayLike, inexact_arrays

__all__ = ["dct", "dctn", "idct", "idctn"]

_INVERSE = {1: 1, 2: 3, 3: 2, 4: 4}
_NORMS = (None, "backward", "ortho", "forward")


def dct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """The discrete cosine transform along an axis.

    With type 2: ``y_k = 2 Σ x_j cos(π k (2 j + 1) / (2 n))``.

    Args:
        x: an array; complex numbers are transformed by parts.
        type: 1, 2, 3 or 4; up to scale, 3 is the inverse of 2, and 1 and 4 are their own inverses.
        n: the length; longer axes are cut off, shorter ones filled with zeros.
        norm: ``"backward"`` (the default) scales in the inverse only, ``"forward"`` in this one
            only; with ``"ortho"`` the transform is an orthogonal matrix.

    Raises:
        TypeError: ``x`` is no array.
        ValueError: the type, the norm, the length or the axis is not one of those.
    """
    return _transform("dct", x, type, None if n is None else (n,), (axis,), norm, False)


def idct(
    x: ArrayLike,
    type: int = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
) -> Array:
    """The inverse of :func:`dct` with the same arguments."""
    return _transform("idct", x, type, None if n is None else (n,), (axis,), norm, True)


def dctn(
    x: ArrayLike,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
) -> Array:
    """The discrete cosine transform along several axes (see :func:`dct`).

    Args:
        s: lengths along them: an integer or one for each.
        axes: an integer or several; by default the last ones, as many as lengths, or all.
    """
    return _transform("dctn", x, type, s, axes, norm, False)


def idctn(
    x: ArrayLike,
    type: int = 2,
    s: Any = None,
    axes: Any = None,
    norm: str | None = None,
) -> Array:
    """The inverse of :func:`dctn` with the same arguments."""
    return _transform("idctn", x, type, s, axes, norm, True)


def _transform(name: str, x: Any, kind: Any, s: Any, axes: Any, norm: Any, inverse: bool) -> Array:
    (x,) = inexact_arrays(name, x)
    x = x if x.dtype.itemsize >= 4 else lax.convert_element_type(x, np.float32)
    if kind not in _INVERSE:
        raise ValueError(f"{name}: type must be 1, 2, 3 or 4, got {short_repr(kind)}{here()}")
    if norm is not None and norm not in _NORMS:
        raise ValueError(
            f"{name}: norm must be 'backward', 'ortho' or 'forward', got {short_repr(norm)}{here()}"
        )
    result, sizes = _lengths(name, x.shape, s, axes)
    least = 2 if kind == 1 else 1
    if any(n < least for n in sizes):
        raise ValueError(
            f"{name} of type {kind} takes at least {least} element{'s' if least > 1 else ''} along "
            f"each axis, got lengths {tuple(sizes)}{here()}"
        )
    scaling = norm or "backward"
    if inverse:
        kind = _INVERSE[kind]
        scaling = {"backward": "forward", "forward": "backward", "ortho": "ortho"}[scaling]
    return _run(x, kind=kind, axes=result, sizes=sizes, norm=scaling)


def _lengths(name: str, shape: Any, s: Any, axes: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes, from 0, and the length along each."""
    lengths = None if s is None else _integers("s", s)
    if axes is None:
        count = len(shape) if lengths is None else len(lengths)
        axes = range(len(shape) - count, len(shape))
    given = _integers("axes", axes)
    if any(not -len(shape) <= a < len(shape) for a in given):
        raise ValueError(f"{name}: axes {given} of an array of shape {tuple(shape)}{here()}")
    result = tuple(a % len(shape) for a in given)
    if len(set(result)) != len(result):
        raise ValueError(f"{name}: duplicate axis in {given}{here()}. Name each axis once.")
    if lengths is None:
        lengths = tuple(shape[a] for a in result)
    if len(lengths) != len(result):
        raise ValueError(f"{name}: {len(lengths)} lengths for {len(result)} axes{here()}")
    return result, lengths


def _integers(what: str, x: Any) -> tuple[int, ...]:
    if isinstance(x, int):
        return (x,)
    return tuple(arguments.integer(what, i) for i in x)


@fused(static=("kind", "axes", "sizes", "norm"))
def _run(x: Any, kind: int, axes: Any, sizes: Any, norm: str) -> Any:
    if x.dtype.kind == "c":
        parts = (_run(part, kind=kind, axes=axes, sizes=sizes, norm=norm)
                 for part in (dnp.real(x), dnp.imag(x)))  # fmt: skip
        return lax.complex(*parts)
    for axis, n in zip(axes, sizes):
        x = dnp.moveaxis(_along_last(dnp.moveaxis(x, axis, -1), n, kind, norm), -1, axis)
    return x


def _along_last(x: Any, n: int, kind: int, norm: str) -> Any:
    """``Re(p_k Σ q_j x_j exp(-πi j k / m))``: a Fourier transform of ``2 m`` elements."""
    m, before, after = _factors(kind, n, norm)
    x = x[..., :n]
    before = before[: x.shape[-1]]
    if before.dtype.kind == "c":
        turned = lax.complex(*(x * part.astype(x.dtype) for part in (before.real, before.imag)))
        y = dnp.fft.fft(turned, 2 * m)[..., :n]
    else:
        y = dnp.fft.rfft(x * before.astype(x.dtype), 2 * m)[..., :n]
    real, imag = dnp.real(y), dnp.imag(y)
    result = real * after.real.astype(x.dtype)
    return result - imag * after.imag.astype(x.dtype) if after.dtype.kind == "c" else result


def _factors(kind: int, n: int, norm: str) -> tuple[int, Any, Any]:
    """``m``, ``q`` and ``p`` of a transform."""
    j, m = np.arange(n), n - 1 if kind == 1 else n
    before, after = np.ones(n), np.full(n, 2.0)
    if kind == 1:
        before[[0, -1]] = 0.5
    if kind == 2:
        after = after * np.exp(-0.5j * np.pi * j / n)
    if kind == 3:
        before[0] = 0.5
    if kind in (3, 4):
        before = before * np.exp(-0.5j * np.pi * j / n)
    if kind == 4:
        after = after * np.exp(-0.25j * np.pi * (2 * j + 1) / n)
    if norm == "forward":
        after = after / (2 * m)
    if norm == "ortho":
        ends = [0, -1] if kind == 1 else [0]
        if kind in (1, 3):
            before[ends] *= sqrt(2)
        if kind in (1, 2):
            after[ends] /= sqrt(2)
        after = after / sqrt(2 * m)
    return m, before, after
