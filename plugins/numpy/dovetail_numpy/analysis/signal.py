"""Convolution and correlation of vectors, windows, derivatives and integrals along an axis."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..creation.arrays import as_array
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, axis_index, axis_tuple, integer
from ..operations import number, select, strong
from ..promotion import convert, default_float, promote


def _convolve(
    name: str, a: ArrayLike, v: ArrayLike, mode: str, flip: bool, precision: Any, preferred: Any
) -> Array:
    x, y = (as_array(name, p, i) for i, p in enumerate(promote(name, a, v, inexact=True)))
    if x.ndim != 1 or y.ndim != 1:
        raise ValueError(f"{name} takes vectors, got shapes {x.shape} and {y.shape}{here()}")
    if not x.size or not y.size:
        raise ValueError(
            f"{name}: inputs cannot be empty, got shapes {x.shape} and {y.shape}{here()}"
        )
    if mode not in ("full", "same", "valid"):
        raise ValueError(f"{name}: mode must be 'full', 'same' or 'valid', got {mode!r}{here()}")
    return _run(x, y, mode=mode, flip=flip, precision=precision, preferred=preferred)


@fused(static=("mode", "flip", "precision", "preferred"))
def _run(x: Any, y: Any, mode: str, flip: bool, precision: Any, preferred: Any) -> Any:
    swap = x.shape[0] < y.shape[0]
    if swap:
        x, y = y, x
        # correlate(a, v) is correlate(v, a) reversed and conjugated; convolve is symmetric.
    n = y.shape[0]
    kernel = lax.rev(y, (0,)) if flip else y
    if not flip and y.dtype.kind == "c":
        if swap:
            x = lax.conj(x)
        else:
            kernel = lax.conj(kernel)
    pads = {"full": (n - 1, n - 1), "valid": (0, 0)}.get(mode)
    if pads is None:
        pads = (n // 2, n - n // 2 - 1)
    out = lax.conv_general_dilated(
        lax.reshape(x, (1, 1, x.shape[0])), lax.reshape(kernel, (1, 1, n)), (1,), [pads],
        precision=precision, preferred_element_type=preferred,
    )  # fmt: skip
    out = lax.reshape(out, (out.shape[-1],))
    return lax.rev(out, (0,)) if swap and not flip else out


@reword_errors
@one_call("mode", "precision", "preferred_element_type")
def convolve(
    a: ArrayLike, v: ArrayLike, mode: str = "full", *, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """The convolution of two vectors.

    Args:
        mode: ``"full"``: wherever they overlap; ``"same"``: as many as the longer one has;
            ``"valid"``: where they overlap completely.

    Raises:
        ValueError: an argument is not a vector or empty, or the mode is unknown.
    """
    return _convolve("convolve", a, v, mode, True, precision, preferred_element_type)


@reword_errors
@one_call("mode", "precision", "preferred_element_type")
def correlate(
    a: ArrayLike, v: ArrayLike, mode: str = "valid", *, precision: Any = None,
    preferred_element_type: Any = None,
) -> Array:  # fmt: skip
    """The correlation of two vectors, the second one conjugated (see :func:`convolve`)."""
    return _convolve("correlate", a, v, mode, False, precision, preferred_element_type)


def _window(M: int, values: Any) -> Array:
    from ..creation import placement

    m = integer("window", "M", M)
    if m <= 1:
        return placement.constant(np.ones(max(m, 0), default_float()))
    return placement.constant(values(m).astype(default_float()))


@reword_errors
def bartlett(M: int) -> Array:
    """The triangular window of ``M`` points, zero at its ends."""
    return _window(M, np.bartlett)


@reword_errors
def blackman(M: int) -> Array:
    """The Blackman window of ``M`` points."""
    return _window(M, np.blackman)


@reword_errors
def hamming(M: int) -> Array:
    """The Hamming window of ``M`` points."""
    return _window(M, np.hamming)


@reword_errors
def hanning(M: int) -> Array:
    """The Hann window of ``M`` points."""
    return _window(M, np.hanning)


@reword_errors
def kaiser(M: int, beta: ArrayLike) -> Array:
    """The Kaiser window of ``M`` points; ``beta`` may be traced."""
    from ..ufuncs.unary import i0

    m = integer("kaiser", "M", M)
    if m <= 1:
        return _window(m, np.hanning)
    (b,) = promote("kaiser", beta, inexact=True)
    b = as_array("kaiser", b, 1)
    half = number(b, (m - 1) / 2)
    at = lax.div(lax.sub(lax.iota(b.dtype, m), half), half)
    inside = lax.sqrt(lax.max(lax.sub(number(b, 1), lax.mul(at, at)), number(b, 0)))
    return lax.div(i0(lax.mul(inside, b)), i0(b))


@reword_errors
@one_call("axis")
def trapezoid(
    y: ArrayLike, x: ArrayLike | None = None, dx: ArrayLike = 1.0, axis: int = -1
) -> Array:
    """The integral along ``axis`` by trapezoids, of values at ``x`` or ``dx`` apart."""
    from ..manipulation.shapes import moveaxis
    from ..reductions.basic import sum as total
    from ..reductions.cumulative import diff
    from ..ufuncs.arithmetic import ADD, MULTIPLY

    (v,) = promote("trapezoid", y, inexact=True)
    v = moveaxis(as_array("trapezoid", v), axis, -1)
    if x is not None:
        at = as_array("trapezoid", x, 1)
        gaps: Any = diff(at if at.ndim == 1 else moveaxis(at, axis, -1), axis=-1)
    else:
        gaps = dx if not hasattr(dx, "aval") or not dx.ndim else moveaxis(dx, axis, -1)
    n, last = v.shape[-1], v.ndim - 1
    if n > 1 and x is None and not np.ndim(dx) and v.dtype.name in ("float32", "float64"):
        return MULTIPLY(gaps, _even_trapezoids(v))
    later = lax.slice_in_dim(v, min(1, n), n, axis=last)
    both = ADD(later, lax.slice_in_dim(v, 0, max(n - 1, 0), axis=last))
    return MULTIPLY(total(MULTIPLY(gaps, both), -1), 0.5)


def _even_trapezoids(v: Any) -> Any:
    """The sum of all elements less half of the first and the last one.

    XLA divides the sum of a complete array among all cores, but not that of a slice.
    """
    last = v.ndim - 1
    ends = [lax.index_in_dim(v, i, last, keepdims=False) for i in (0, v.shape[last] - 1)]
    halves = [lax.mul(select(lax.is_finite(e), e, number(e, 0)), number(e, 0.5)) for e in ends]
    return lax.sub(lax.reduce_sum(v, (last,)), lax.add(*halves))


@reword_errors
@one_call("axis", "edge_order")
def gradient(
    f: ArrayLike, *varargs: ArrayLike, axis: Any = None, edge_order: int | None = None
) -> Any:
    """Derivatives along axes by central differences, one-sided at the edges.

    Args:
        varargs: the spacing: one number for all axes, or for each axis a number or coordinates.

    Raises:
        ValueError: an axis has less than two elements.
        NotImplementedError: ``edge_order`` is not 1.
    """
    if edge_order not in (None, 1):
        raise NotImplementedError(f"gradient: only edge_order=1 is supported{here()}")
    (v,) = promote("gradient", f, inexact=True)
    v = as_array("gradient", v)
    axes = axis_tuple("gradient", axis, v.ndim)
    steps: list[Any] = list(varargs) if varargs else [1.0]
    if len(steps) == 1:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"gradient: {len(steps)} spacings for {len(axes)} axes{here()}")
    out = [_slope(v, i, h) for i, h in zip(axes, steps)]
    return out[0] if len(out) == 1 else out


def _slope(v: Any, axis: int, step: Any) -> Any:
    n = v.shape[axis]
    if n < 2:
        raise ValueError(
            f"gradient: axis {axis} of shape {v.shape} has less than two elements{here()}"
        )
    h = convert(as_array("gradient", step), v.dtype)

    def part(a: int, b: int) -> Any:
        return lax.slice_in_dim(v, a, b, axis=axis)

    if h.ndim == 0:
        inner = lax.div(lax.sub(part(2, n), part(0, n - 2)), lax.mul(h, number(h, 2)))
        gaps: Any = (h, h)
    else:
        d = lax.sub(lax.slice_in_dim(h, 1, n), lax.slice_in_dim(h, 0, n - 1))
        wide = lambda x, m: lax.broadcast_in_dim(  # noqa: E731
            x, tuple(m if i == axis else s for i, s in enumerate(v.shape)), (axis,)
        )
        d0, d1 = (
            wide(x, n - 2) for x in (lax.slice_in_dim(d, 0, n - 2), lax.slice_in_dim(d, 1, n - 1))
        )
        left = lax.div(lax.sub(part(1, n - 1), part(0, n - 2)), d0)
        right = lax.div(lax.sub(part(2, n), part(1, n - 1)), d1)
        # Weighted so that it is exact for parabolas also where the spacing is uneven.
        inner = lax.div(lax.add(lax.mul(left, d1), lax.mul(right, d0)), lax.add(d0, d1))
        gaps = (wide(lax.slice_in_dim(d, 0, 1), 1), wide(lax.slice_in_dim(d, n - 2, n - 1), 1))
    first = lax.div(lax.sub(part(1, 2), part(0, 1)), gaps[0])
    last = lax.div(lax.sub(part(n - 1, n), part(n - 2, n - 1)), gaps[1])
    return lax.concatenate([first, inner, last], axis)


@reword_errors
@one_call("axis")
def unwrap(
    p: ArrayLike, discont: ArrayLike | None = None, axis: int = -1, period: ArrayLike = 2 * np.pi
) -> Array:
    """``p`` with jumps of more than half a period taken out along ``axis``.

    Integers stay integers where ``period`` is one.

    Raises:
        DTypeError: ``p`` is complex.
    """
    from ..reductions.cumulative import diff
    from ..ufuncs.arithmetic import REMAINDER
    from ..ufuncs.comparisons import LESS
    from ..ufuncs.plans import REALS, accept

    v, per = (as_array("unwrap", x, i) for i, x in enumerate(promote("unwrap", p, period)))
    accept("unwrap", v.dtype, REALS)
    axis = axis_index("unwrap", axis, v.ndim)
    if not v.shape[axis]:
        return v
    integral = v.dtype.kind in "iu"
    half = lax.div(per, number(per, 2))
    limit: Any = lax.sub(per, half) if discont is None else discont  # rounded up for integers
    jumps = diff(v, axis=axis)
    within = lax.sub(REMAINDER(lax.add(jumps, half), per), half)
    edge = lax.bitwise_and(lax.eq(within, lax.neg(half)), lax.gt(jumps, number(jumps, 0)))
    if integral:  # half of an odd period is no jump
        edge = lax.bitwise_and(edge, lax.eq(lax.rem(per, number(per, 2)), number(per, 0)))
    within = select(edge, half, within)
    correction = select(LESS(lax.abs(jumps), limit), number(v, 0), lax.sub(within, jumps))
    running = lax.cumsum(correction, axis=axis)
    config = [(int(i == axis), 0, 0) for i in range(v.ndim)]
    return strong(lax.add(v, lax.pad(running, number(v, 0), config)))
