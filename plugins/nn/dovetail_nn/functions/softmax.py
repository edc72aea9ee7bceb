"""The softmax family and sums of exponentials."""

from __future__ import annotations

from math import inf, log
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.options import as_bool
from dovetail_core import Option, config, get_trace, here
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes
from dovetail_lax.numerics import scaling
from dovetail_numpy import fusion, operands, promotion

from ..arguments import array, axes_of, inexact, mask
from ..primitives import log_softmax_p, logsumexp_p, softmax_p, spread

Array = ArrayLike = Axis = Any


softmax_custom_jvp = config.add(
    Option(
        "softmax_custom_jvp",
        True,
        "Without effect: softmax always has its own derivative rule, which is stable.",
        check=as_bool,
    )
)


def _checked(name: str, x: Any) -> Any:
    if getattr(x, "dtype", None) == np.bool_:
        raise TypeError(f"{name} does not take booleans{here()}. Convert them to numbers first.")
    return inexact(name, x)


@fusion.of_one_array("axis")
def softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """``exp(x)`` over its sum.

    Args:
        x: an array; integers become floating-point numbers.
        axis: the axis along which the results sum to 1, several of them, or None for all; names are
            axes of a map around the function.
        where: a boolean array; where it is false elements do not take part, and results are 0.

    Raises:
        TypeError: ``x`` is no array, or of booleans.
        ValueError: an axis is out of bounds or given twice.
    """
    x = _checked("softmax", x)
    if operands.names_of(axis):
        e = lax.exp(_below_greatest(x, axis, where))
        return lax.div(e, dnp.sum(e, axis, keepdims=True))
    axes = axes_of("softmax", axis, len(x.shape))
    if where is None:
        return get_trace().process(softmax_p, (x,), {"axes": axes})
    where = mask("softmax", where)
    return _masked(x, where, axes=axes, primitive=softmax_p, masked=0.0)


@fusion.of_one_array("axis")
def log_softmax(x: ArrayLike, axis: Axis = -1, where: ArrayLike | None = None) -> Array:
    """The logarithm of :func:`softmax`; where ``where`` is false, minus infinity."""
    x = _checked("log_softmax", x)
    if operands.names_of(axis):
        below = _below_greatest(x, axis, where)
        return lax.sub(below, lax.log(dnp.sum(lax.exp(below), axis, keepdims=True)))
    axes = axes_of("log_softmax", axis, len(x.shape))
    if where is None:
        return get_trace().process(log_softmax_p, (x,), {"axes": axes})
    where = mask("log_softmax", where)
    return _masked(x, where, axes=axes, primitive=log_softmax_p, masked=-np.inf)


def _below_greatest(x: Any, axis: Any, where: Any) -> Any:
    """``x`` less its greatest element over axes of which some are named."""
    if where is not None:
        x = dnp.where(mask("softmax", where), x, -np.inf)
    greatest = dnp.max(lax.stop_gradient(x), axis, keepdims=True, initial=-np.inf)
    greatest = dnp.where(dnp.isfinite(greatest), greatest, 0.0)
    return scaling.below(x, dnp.broadcast_to(dnp.real(greatest), x.shape))


@fused(static=("axes", "primitive", "masked"))
def _masked(x: Any, where: Any, *, axes: tuple[int, ...], primitive: Any, masked: float) -> Any:
    result = primitive.bind(dnp.where(where, x, -np.inf), axes=axes)
    return dnp.where(where, result, masked)


def logsumexp(
    a: ArrayLike,
    axis: Axis = None,
    b: ArrayLike | None = None,
    keepdims: bool = False,
    return_sign: bool = False,
    where: ArrayLike | None = None,
) -> Any:
    """The logarithm of the sum of ``b * exp(a)``, without overflow.

    Args:
        a: an array; integers become floating-point numbers.
        axis: the axes to sum along; None for all; names are axes of a map around the function.
        b: factors, which broadcast with ``a``; None for 1.
        keepdims: whether those axes stay, with length 1.
        return_sign: whether to return the logarithm of the sum's absolute value, and its sign (a
            number of absolute value 1, or 0, for complex numbers). Otherwise a negative sum gives
            NaN.
        where: a boolean array; where it is false elements do not take part.

    Raises:
        TypeError: ``a`` is no array.
        ValueError: an axis is out of bounds or given twice.
    """
    a = inexact("logsumexp", a)
    if a.weak_type:
        a = lax.convert_element_type(a, a.dtype)
    factors: Any = None if b is None else inexact("logsumexp", b)
    if b is not None and promotion.rank_promotion.value != "allow":
        promotion.check_ranks("logsumexp", (a.shape, factors.shape))
    try:
        shape = a.shape if b is None else np.broadcast_shapes(a.shape, factors.shape)
    except ValueError as e:
        raise ValueError(f"logsumexp: a and b do not broadcast{here()}: {e}") from None
    names = operands.names_of(axis)
    axes = axes_of("logsumexp", operands.positions_of(axis) if names else axis, len(shape))
    if b is None and where is None and not return_sign and not names:
        if not keepdims:
            return logsumexp_p.bind(a, axes=axes)
        return _keepdims(a, axes=axes)
    where = None if where is None else mask("logsumexp", where)
    return _logsumexp(
        a, factors, where, shape=shape, axes=axes, names=names, keepdims=keepdims,
        return_sign=return_sign,
    )  # fmt: skip


@fused(static=("axes",))
def _keepdims(a: Any, *, axes: tuple[int, ...]) -> Any:
    return dnp.expand_dims(logsumexp_p.bind(a, axes=axes), axes)


@fused(static=("shape", "axes", "names", "keepdims", "return_sign"))
def _logsumexp(
    a: Any,
    b: Any,
    where: Any,
    *,
    shape: tuple[int, ...],
    axes: tuple[int, ...],
    names: tuple[str, ...],
    keepdims: bool,
    return_sign: bool,
) -> Any:
    if b is not None:
        dtype = dtypes.result_type(a, b)
        a, b = (dnp.broadcast_to(lax.convert_element_type(v, dtype), shape) for v in (a, b))
        used = dnp.not_equal(b, 0)  # exp(a) may overflow where b is 0
        where = used if where is None else dnp.logical_and(used, where)
    if where is not None:
        a = dnp.where(where, a, -np.inf)
    real = lax.stop_gradient(dnp.real(a))
    greatest = lax.reduce_max_p.bind(real, axes=axes)
    greatest = lax.pmax(greatest, names) if names else greatest
    greatest = dnp.where(dnp.isfinite(greatest), greatest, 0.0)
    e = lax.exp(scaling.below(a, spread(greatest, a, axes)))
    if b is not None:
        e = dnp.multiply(b, e)
    total = lax.reduce_sum_p.bind(e, axes=axes)
    total = lax.psum(total, names) if names else total
    sign = None
    if return_sign:
        sign = lax.stop_gradient(dnp.sign(total))
        total = dnp.abs(total)
    out = dnp.add(lax.log(total), greatest)
    outs = [dnp.expand_dims(v, axes) if keepdims else v for v in (out, sign) if v is not None]
    return tuple(outs) if return_sign else outs[0]


@one_call("axis", "keepdims")
def logmeanexp(
    x: ArrayLike, axis: Axis = None, where: ArrayLike | None = None, keepdims: bool = False
) -> Array:
    """The logarithm of the mean of ``exp(x)``, without overflow (see :func:`logsumexp`)."""
    x = inexact("logmeanexp", x)
    total = logsumexp(x, axis=axis, where=where, keepdims=keepdims)
    if where is None:
        n: Any = 1
        for a in axes_of("logmeanexp", axis, len(x.shape)):
            n *= x.shape[a]
        return dnp.subtract(total, log(n) if n else -inf)
    counted = dnp.broadcast_to(array("logmeanexp", where), x.shape)
    return dnp.subtract(total, dnp.log(dnp.sum(counted, axis=axis, keepdims=keepdims)))
