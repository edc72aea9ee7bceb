"""Primitives whose derivatives are not, or are better than, those of their decompositions.

``relu`` has the derivative 0 at 0, where that of ``max(x, 0)`` is 1/2. The softmax family subtracts
the maximum for accuracy alone, and its derivatives are short in terms of results.
"""

from __future__ import annotations

from collections.abc import Callable
from math import log, sqrt
from typing import Any

import dovetail_lax as lax
from dovetail_core import Cache, Primitive, ShapedArray, enable_x64, here, is_inexact
from dovetail_lax import dtypes
from dovetail_lax.numerics import scaling

relu_p = Primitive("relu")
"""``max(x, 0)``."""

relu6_p = Primitive("relu6")
"""``min(max(x, 0), 6)``."""

softplus_p = Primitive("softplus")
"""``log(1 + exp(x))``."""

log1mexp_p = Primitive("log1mexp")
"""``log(1 - exp(-x))``."""

log1mexp_slope_p = Primitive("log1mexp_slope")
"""``1 / (exp(x) - 1)``, the derivative of ``log1mexp``."""

normal_cdf_p = Primitive("normal_cdf")
"""The distribution function of the normal distribution."""

softmax_p = Primitive("softmax")
"""``exp(x)`` over its sum along ``axes``."""

log_softmax_p = Primitive("log_softmax")
"""The logarithm of ``softmax``."""

logsumexp_p = Primitive("logsumexp")
"""The logarithm of the sum of ``exp(x)`` over ``axes``."""

for _p in (relu_p, relu6_p, softplus_p, normal_cdf_p):
    _p.def_traits(elementwise=True, monotone="+")
for _p in (log1mexp_p, log1mexp_slope_p):
    _p.def_traits(elementwise=True)
logsumexp_p.def_traits(monotone="+", parameters={"axes": "axes that are summed over"})
for _p in (softmax_p, log_softmax_p):
    _p.def_traits(parameters={"axes": "axes along which it is normalized"})


def _same(x: ShapedArray) -> ShapedArray:
    return x


relu_p.def_abstract_eval(_same)


def _inexact(name: str, x: ShapedArray) -> ShapedArray:
    if not is_inexact(x.dtype):
        raise TypeError(
            f"{name} takes floating-point or complex numbers, got {x.str_short()}{here()}. Convert "
            "it first."
        )
    return x


def _elementwise_type(name: str) -> Callable[[ShapedArray], ShapedArray]:
    return lambda x: _inexact(name, x)


for _p in (relu6_p, softplus_p, log1mexp_p, log1mexp_slope_p, normal_cdf_p):
    _p.def_abstract_eval(_elementwise_type(_p.name))


def _checked_axes(name: str, x: ShapedArray, axes: tuple[int, ...]) -> None:
    if len(set(axes)) != len(axes) or any(not 0 <= a < len(x.shape) for a in axes):
        raise ValueError(f"{name} got axes {axes} for an operand of type {x.str_short()}{here()}")


def _softmax_type(name: str) -> Callable[..., ShapedArray]:
    def result_type(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
        _checked_axes(name, x, axes)
        return _inexact(name, x)

    return result_type


for _p in (softmax_p, log_softmax_p):
    _p.def_abstract_eval(_softmax_type(_p.name))


@logsumexp_p.def_abstract_eval
def _logsumexp_type(x: ShapedArray, *, axes: tuple[int, ...]) -> ShapedArray:
    _checked_axes("logsumexp", x, axes)
    shape = [n for i, n in enumerate(x.shape) if i not in axes]
    return ShapedArray(shape, _inexact("logsumexp", x).dtype, x.weak_type)


def number(value: float, x: Any) -> Any:
    """A constant for an operation with ``x``: a Python number if that has the dtype of ``x``.

    Python numbers are the quickest operands, and leave the result as weakly typed as ``x`` is.
    """
    key = (value, x.dtype, enable_x64.state.value)
    result = _constants.get(key)
    if result is None:
        kind = {"f": float, "i": int}.get(x.dtype.kind)
        own = kind is not None and kind(value) == value and x.dtype == dtypes.as_dtype(kind)
        result = _constants[key] = kind(value) if own and kind else x.dtype.type(value)
    return result


_constants: Cache[tuple[float, Any, bool], Any] = Cache()


@relu_p.def_decomposition
def _relu(x: Any) -> Any:
    return lax.max_p.bind(x, number(0.0, x))


@relu6_p.def_decomposition
def _relu6(x: Any) -> Any:
    return lax.min_p.bind(lax.max_p.bind(x, number(0.0, x)), number(6.0, x))


@softplus_p.def_decomposition
def _softplus(x: Any) -> Any:
    # exp of a number that is at most 0 cannot overflow.
    positive = lax.max_p.bind(x, number(0.0, x))
    return lax.add_p.bind(
        positive, lax.log1p_p.bind(lax.exp_p.bind(lax.neg_p.bind(lax.abs_p.bind(x))))
    )


@log1mexp_p.def_decomposition
def _log1mexp(x: Any) -> Any:
    # 1 - exp(-x) loses digits for small x, and log(1 - exp(-x)) for large.
    minus = lax.neg_p.bind(x)
    small = lax.log_p.bind(lax.neg_p.bind(lax.expm1_p.bind(minus)))
    large = lax.log1p_p.bind(lax.neg_p.bind(lax.exp_p.bind(minus)))
    size = lax.real(x) if x.dtype.kind == "c" else x
    return lax.select(lax.lt(size, size.dtype.type(log(2))), small, large)


@log1mexp_slope_p.def_decomposition
def _log1mexp_slope(x: Any) -> Any:
    return lax.div_p.bind(number(1.0, x), lax.expm1_p.bind(x))


@normal_cdf_p.def_decomposition
def _normal_cdf(x: Any) -> Any:
    tail = lax.erfc_p.bind(lax.mul_p.bind(x, number(-sqrt(0.5), x)))
    return lax.mul_p.bind(tail, number(0.5, x))


def spread(reduced: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """A reduction of ``x`` along ``axes``, repeated along them."""
    shape = getattr(x, "shape", ())
    others = tuple([i for i in range(len(shape)) if i not in axes])
    return lax.broadcast_in_dim_p.bind(reduced, shape=shape, broadcast_dimensions=others)


def reduced_sum(x: Any, axes: tuple[int, ...]) -> Any:
    """The sum along ``axes``, repeated along them."""
    return spread(lax.reduce_sum_p.bind(x, axes=axes), x, axes)


def _greatest(x: Any, axes: tuple[int, ...]) -> Any:
    """The maximum along ``axes``; for complex numbers that of the real parts."""
    return lax.reduce_max_p.bind(lax.real(x) if x.dtype.kind == "c" else x, axes=axes)


def _shifted(x: Any, axes: tuple[int, ...]) -> Any:
    return scaling.below(x, spread(_greatest(x, axes), x, axes))


@softmax_p.def_decomposition
def _softmax(x: Any, *, axes: tuple[int, ...]) -> Any:
    e = lax.exp_p.bind(_shifted(x, axes))
    return lax.div_p.bind(e, reduced_sum(e, axes))


@log_softmax_p.def_decomposition
def _log_softmax(x: Any, *, axes: tuple[int, ...]) -> Any:
    y = _shifted(x, axes)
    total = lax.reduce_sum_p.bind(lax.exp_p.bind(y), axes=axes)
    return lax.sub_p.bind(y, spread(lax.log_p.bind(total), x, axes))


@logsumexp_p.def_decomposition
def _logsumexp(x: Any, *, axes: tuple[int, ...]) -> Any:
    greatest = _greatest(x, axes)
    # An infinite maximum is not subtracted: infinities less it would be NaN.
    finite = lax.is_finite(greatest)
    if x.dtype.kind == "c":
        shift = lax.select(finite, greatest, lax.full_like(greatest, 0))
        total = lax.reduce_sum_p.bind(
            lax.exp_p.bind(scaling.below(x, spread(shift, x, axes))), axes=axes
        )
        return lax.add_p.bind(lax.log_p.bind(total), lax.complex(shift, lax.full_like(shift, 0)))
    total = lax.reduce_sum_p.bind(lax.exp_p.bind(_shifted(x, axes)), axes=axes)  # as in softmax
    return lax.select(finite, lax.add_p.bind(lax.log_p.bind(total), greatest), greatest)
