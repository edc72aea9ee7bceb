"""Ranges of numbers: by step, by count, on linear, logarithmic and geometric scales."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import ConcretizationTypeError, ShapedArray, Tracer, here, is_inexact, typeof
from dovetail_lax import dtypes

from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, DTypeError, DTypeLike, axis_index, integer, operand
from ..operations import number, select, strong
from ..promotion import broadcast, common_type, convert, promote_all
from . import placement
from .arrays import as_array


def arange(
    start: ArrayLike, stop: ArrayLike | None = None, step: ArrayLike | None = None,
    dtype: DTypeLike = None, *, device: Any = None, out_sharding: Any = None,
) -> Array:  # fmt: skip
    """The numbers ``start, start + step, ...`` below ``stop``; with one argument, from 0.

    Raises:
        ConcretizationTypeError: a bound is a tracer, so that the length would be unknown.
        TypeError: a bound is no real number.
        ZeroDivisionError: ``step`` is 0.
    """
    bounds = [_bound(i, b) for i, b in enumerate((start, stop, step)) if b is not None]
    types: list[Any] = [typeof(b) for b in bounds]
    if not bounds or any(t.dtype.kind == "c" for t in types):
        raise DTypeError(f"arange: bounds must be real numbers, got {(start, stop, step)}{here()}")
    dt = common_type(types)[0] if dtype is None else dtypes.as_dtype(dtype)
    if stop is None:
        bounds = [0, *bounds[:1], *bounds[1:]]
    target = placement.resolve(device, out_sharding)
    out = _arange(bounds, dt)
    return out if target is None else placement.to_device(out, target)


def _bound(i: int, b: ArrayLike) -> Any:
    if isinstance(b, Tracer) and b.concrete() is None:
        raise ConcretizationTypeError(
            f"arange: {('start', 'stop', 'step')[i]} is a traced value{here()}, so that the length "
            "of the result is not known. Make the argument that it comes from static "
            "(static_argnums), or use dovetail.lax.iota with a fixed size and a comparison."
        )
    value = operand("arange", b, i)
    if hasattr(value, "aval"):
        value = np.asarray(value)[()]
    if np.ndim(value):
        raise ValueError(
            f"arange: bounds must be scalars, got an array of shape {np.shape(value)}{here()}"
        )
    return value


def _arange(bounds: list[Any], dtype: Any) -> Array:
    start, stop, step = (*bounds, 1)[:3]
    if step == 0:
        raise ZeroDivisionError(f"arange: step must not be 0{here()}")
    integral = all(isinstance(b, (bool, int, np.integer, np.bool_)) for b in bounds)
    size = max(0, -((int(start) - int(stop)) // int(step))) if integral else max(
        0, int(np.ceil((stop - start) / step)))  # fmt: skip
    ShapedArray((size,), dtype)  # raises for sizes that are too large
    if placement.on_host(size) or not integral or dtype.kind not in "iu":
        # The running sum start + i * step is NumPy's; made in double precision, then rounded.
        exact: list[Any] = [b if isinstance(b, (int, float, complex)) else b.item() for b in bounds]
        values = np.arange(*exact).astype(dtype) if dtype.kind != "V" or integral else np.arange(
            *map(float, exact)).astype(dtype)  # fmt: skip
        counts = start == 0 and step == 1
        return (placement.unguarded_constant if counts else placement.constant)(values)
    out = lax.iota_p.bind(dtype=dtype, shape=(size,), dimension=0)
    out = out if step == 1 else lax.mul(out, dtype.type(step))
    return out if start == 0 else lax.add(out, dtype.type(start))


@reword_errors
@one_call("num", "endpoint", "retstep", "dtype", "axis", "device", shared=True)
def linspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True, retstep: bool = False,
    dtype: DTypeLike = None, axis: int = 0, *, device: Any = None,
) -> Any:  # fmt: skip
    """``num`` evenly spaced numbers from ``start`` to ``stop``, and with ``retstep`` the distance.

    ``start`` and ``stop`` may be arrays; the numbers then run along ``axis`` of the result.

    Raises:
        ValueError: ``num`` is negative.
    """
    n = integer("linspace", "num", num)
    if n < 0:
        raise ValueError(f"linspace: num must not be negative, got {n}{here()}")
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    lo, hi = promote_all("linspace", start, stop, inexact=True)
    computed = common_type([typeof(lo), typeof(hi)])[0]  # type: ignore[list-item]
    if wanted is not None and is_inexact(wanted):
        computed = dtypes.promote_types(computed, wanted) if wanted.kind != "c" else wanted
    lo, hi = (as_array("linspace", convert(v, computed)) for v in (lo, hi))
    if wanted is not None:
        dtypes.warn_imaginary(lo.dtype, wanted)
    shape = lo.shape or hi.shape
    lo, hi = broadcast(lo, shape), broadcast(hi, shape)
    axis = axis_index("linspace", axis, len(shape) + 1)
    out = _linspace(lo, hi, num=n, endpoint=bool(endpoint), dtype=wanted, axis=axis)
    out = out if device is None else placement.to_device(out, device)
    return (out, strong(_step(lo, hi, n - bool(endpoint)))) if retstep else out


def _step(lo: Any, hi: Any, gaps: int) -> Any:
    if gaps < 1:
        return placement.constant(np.full(lo.shape, np.nan, lo.dtype))
    return lax.div(lax.sub(hi, lo), number(lo, gaps))


@fused(static=("num", "endpoint", "dtype", "axis"))
def _linspace(lo: Any, hi: Any, num: int, endpoint: bool, dtype: Any, axis: int) -> Any:
    gaps = max(num - 1 if endpoint else num, 1)
    ends = endpoint and num > 1  # exactly with stop, whatever rounding does
    num -= ends
    shape = (*lo.shape[:axis], num, *lo.shape[axis:])
    dims = tuple(i for i in range(len(shape)) if i != axis)
    real = lo.dtype if lo.dtype.kind != "c" else np.dtype(f"f{lo.dtype.itemsize // 2}")
    at = lax.div(lax.iota(real, num), number(np.zeros((), real), gaps))
    at = lax.broadcast_in_dim(convert(at, lo.dtype), shape, (axis,))
    low, high = (lax.broadcast_in_dim(v, shape, dims) for v in (lo, hi))
    out = lax.add(lax.mul(low, lax.sub(number(at, 1), at)), lax.mul(high, at))
    if ends:
        out = lax.concatenate([out, lax.expand_dims(hi, (axis,))], axis)
    if dtype is None or dtype == out.dtype:
        return out
    if dtype.kind in "iu":
        out = lax.floor(out)
    return convert(out, dtype)


@reword_errors
@one_call("num", "endpoint", "dtype", "axis")
def logspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
    base: ArrayLike = 10.0, dtype: DTypeLike = None, axis: int = 0,
) -> Array:  # fmt: skip
    """``base`` to the powers ``linspace(start, stop, num)``."""
    from ..ufuncs.arithmetic import power

    exponents = linspace(start, stop, num, endpoint, axis=axis)
    out = power(base, exponents)
    return out if dtype is None else lax.convert_element_type(out, dtypes.as_dtype(dtype))


@reword_errors
@one_call("num", "endpoint", "dtype", "axis")
def geomspace(
    start: ArrayLike, stop: ArrayLike, num: int = 50, endpoint: bool = True,
    dtype: DTypeLike = None, axis: int = 0,
) -> Array:  # fmt: skip
    """``num`` numbers from ``start`` to ``stop``, each the same multiple of the one before."""
    wanted = None if dtype is None else dtypes.as_dtype(dtype)
    lo, hi = (as_array("geomspace", v) for v in promote_all("geomspace", start, stop, inexact=True))
    shape = lo.shape or hi.shape
    lo, hi = broadcast(lo, shape), broadcast(hi, shape)
    sign = _common_sign(lo, hi)
    logs = [lax.log(lax.div(v, sign)) for v in (lo, hi)]
    powers = linspace(logs[0], logs[1], num, endpoint, axis=axis)
    where = axis_index("geomspace", axis, len(shape) + 1)
    sign = lax.expand_dims(sign, (where,))
    out = lax.mul(broadcast(sign, powers.shape), lax.exp(powers))
    out = _exact_ends(out, lo, hi, where, endpoint)
    return out if wanted is None else lax.convert_element_type(out, wanted)


def _common_sign(lo: Any, hi: Any) -> Any:
    if lo.dtype.kind == "c":
        return lax.sign(lo)
    both = lax.bitwise_and(lax.lt(lo, number(lo, 0)), lax.lt(hi, number(hi, 0)))
    return select(both, lax.full_like(lo, -1), lax.full_like(lo, 1))


def _exact_ends(out: Any, lo: Any, hi: Any, axis: int, endpoint: bool) -> Any:
    n = out.shape[axis]
    position = lax.broadcasted_iota(np.int32, out.shape, axis)
    lo, hi = (broadcast(lax.expand_dims(v, (axis,)), out.shape) for v in (lo, hi))
    if n > 1 and endpoint:
        out = select(lax.eq(position, np.int32(n - 1)), hi, out)
    return select(lax.eq(position, np.int32(0)), lo, out)
