"""Covariance and correlation."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_base.foreign import names_itself
from dovetail_core import here
from dovetail_lax import dtypes

from .creation.arrays import as_array
from .fusion import one_call
from .operands import Array, ArrayLike, DTypeLike, operand
from .operations import number, reshape as to_shape
from .promotion import broadcast, convert, promote
from .reductions import basic, moments


@names_itself
@one_call("rowvar", "bias", "ddof", "dtype")
def cov(
    m: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, bias: bool = False,
    ddof: int | None = None, fweights: ArrayLike | None = None, aweights: ArrayLike | None = None,
    dtype: DTypeLike = None,
) -> Array:  # fmt: skip
    """The covariance matrix of variables, one per row (or column, without ``rowvar``).

    Args:
        y: more variables.
        bias, ddof: what the sum is divided by: the number of observations less ``ddof``, by
            default 0 with ``bias`` and 1 without.
        fweights: how often each observation was made. aweights: how much it counts.

    Raises:
        ValueError: ``m`` has more than two dimensions, or weights do not fit.
    """
    from .contraction.products import dot
    from .manipulation.joining import concatenate

    given = [m] if y is None else [m, y]
    arrays = [
        _observations(as_array("cov", v, i), rowvar, row=i > 0)
        for i, v in enumerate(promote("cov", *given, inexact=True))
    ]
    x = concatenate(arrays, 0) if len(arrays) > 1 else arrays[0]
    if dtype is not None:
        x = convert(x, dtypes.as_dtype(dtype))
    less = int(not bias) if ddof is None else operand("cov", ddof, 4)
    w = _weights(x, fweights, aweights)
    if w is None:
        centered = lax.sub(x, broadcast(moments.mean(x, 1, keepdims=True), x.shape))
        factor = number(_real_zero(x), max(x.shape[1] - less, 0))
        weighted = centered
    else:
        total = basic.sum(w)
        mean = moments.average(x, 1, weights=w, keepdims=True)
        centered = lax.sub(x, broadcast(mean, x.shape))
        factor = _normalizer(w, total, less, aweights)
        weighted = lax.mul(centered, lax.broadcast_in_dim(convert(w, x.dtype), x.shape, (1,)))
    other = lax.conj(weighted) if x.dtype.kind == "c" else weighted
    out = dot(centered, lax.transpose(other, (1, 0)))
    out = lax.div(out, convert(factor, out.dtype))
    return lax.reshape(out, ()) if out.shape == (1, 1) else out


def _real_zero(x: Any) -> Any:
    return lax.real(x) if x.dtype.kind == "c" else x


def _observations(x: Any, rowvar: bool, row: bool) -> Any:
    """One variable a row; with ``row``, what is one row already stays so, as in NumPy."""
    if x.ndim > 2:
        raise ValueError(f"cov takes arrays of at most two dimensions, got shape {x.shape}{here()}")
    if x.ndim < 2:  # the observations of one variable
        return to_shape(x, (1, x.size))
    return x if rowvar or (row and x.shape[0] == 1) else lax.transpose(x, (1, 0))


def _weights(x: Any, fweights: Any, aweights: Any) -> Any:
    w = None
    for name, given in (("fweights", fweights), ("aweights", aweights)):
        if given is None:
            continue
        g = as_array("cov", given)
        if g.shape != (x.shape[1],):
            raise ValueError(
                f"cov: {name} must have shape {(x.shape[1],)}, one for each observation, got "
                f"{g.shape}{here()}"
            )
        g = convert(g, _real_zero(x).dtype)
        w = g if w is None else lax.mul(w, g)
    return w


def _normalizer(w: Any, total: Any, less: int, aweights: Any) -> Any:
    if less == 0:
        return total
    if aweights is None:
        return lax.sub(total, number(total, less))
    extra = basic.sum(lax.mul(w, convert(as_array("cov", aweights), w.dtype)))
    return lax.sub(total, lax.div(lax.mul(number(total, less), extra), total))


@names_itself
@one_call("rowvar", "dtype")
def corrcoef(
    x: ArrayLike, y: ArrayLike | None = None, rowvar: bool = True, dtype: DTypeLike = None
) -> Array:
    """Correlation coefficients of variables (see :func:`cov`), limited to -1 ... 1."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return lax.div(c, c)
    from .creation.matrices import diagonal

    spread = lax.sqrt(_real_zero(diagonal(c)))
    both = lax.mul(lax.broadcast_in_dim(spread, c.shape, (0,)),
                   lax.broadcast_in_dim(spread, c.shape, (1,)))  # fmt: skip
    out = lax.div(c, convert(both, c.dtype))
    if out.dtype.kind != "c":
        return lax.clamp(number(out, -1), out, number(out, 1))
    parts = [lax.clamp(number(p, -1), p, number(p, 1)) for p in (lax.real(out), lax.imag(out))]
    return lax.complex(*parts)
