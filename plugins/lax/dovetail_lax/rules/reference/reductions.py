"""Reductions by NumPy, also cumulative ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import evaluate, reference_rules
from dovetail_core import ClosedJaxpr, Primitive

from ...dtypes import kind_of
from ...monoids import all_ones, highest, lowest
from ...primitives import reductions as r
from .kinds import Array, quiet, widened

Axes = tuple[int, ...]


def computing(x: Array) -> Array:
    """``x`` in a type that NumPy calculates well in: doubles, or integers that wrap around."""
    kind = kind_of(x.dtype)
    if kind in ("floating", "complex"):
        return widened(x)
    if kind in ("signed", "unsigned"):
        return x.astype(np.int64 if kind == "signed" else np.uint64)
    return x


def _arithmetic(primitive: Primitive, reduce: Callable[..., Any]) -> None:
    def rule(x: Array, *, axes: Axes) -> Array:
        return np.asarray(reduce(computing(x), axis=axes)).astype(x.dtype)

    reference_rules.set(primitive, quiet(rule))


def _extremum(primitive: Primitive, reduce: Any, identity: Callable[[Any], Any]) -> None:
    def rule(x: Array, *, axes: Axes) -> Array:
        wide = computing(x)
        initial = np.asarray(identity(x.dtype)).astype(wide.dtype)
        return np.asarray(reduce(wide, axis=axes, initial=initial)).astype(x.dtype)

    reference_rules.set(primitive, quiet(rule))


def _bitwise(primitive: Primitive, combine: np.ufunc, identity: Callable[[Any], Any]) -> None:
    def rule(x: Array, *, axes: Axes) -> Array:
        wide = computing(x)
        initial = np.asarray(identity(wide.dtype))
        return np.asarray(combine.reduce(wide, axis=axes, initial=initial)).astype(x.dtype)

    reference_rules.set(primitive, rule)


_arithmetic(r.reduce_sum_p, np.sum)
_arithmetic(r.reduce_prod_p, np.prod)
_extremum(r.reduce_max_p, np.max, lowest)
_extremum(r.reduce_min_p, np.min, highest)
_bitwise(r.reduce_and_p, np.bitwise_and, all_ones)
_bitwise(r.reduce_or_p, np.bitwise_or, lambda dtype: dtype.type(0))
_bitwise(r.reduce_xor_p, np.bitwise_xor, lambda dtype: dtype.type(0))


def _argreduction(primitive: Primitive, find: Callable[..., Any]) -> None:
    def rule(x: Array, *, axes: Axes, index_dtype: Any) -> Array:
        return np.asarray(find(computing(x), axis=axes[0])).astype(index_dtype)

    reference_rules.set(primitive, rule)


_argreduction(r.argmax_p, np.argmax)
_argreduction(r.argmin_p, np.argmin)


@reference_rules.register(r.reduce_p)
def _reduce(*args: Array, jaxpr: ClosedJaxpr, dimensions: Axes) -> list[Array]:
    n = len(args) // 2
    if not dimensions:
        return list(args[:n])
    rows = [_flattened(x, dimensions) for x in args[:n]]
    return folded(rows, args[n:], jaxpr)


def _flattened(x: Array, axes: Axes) -> Array:
    rest = [i for i in range(x.ndim) if i not in axes]
    y = x.transpose((*rest, *axes))
    return y.reshape((*y.shape[: len(rest)], int(np.prod(y.shape[len(rest) :], dtype=int))))


def folded(rows: list[Array], inits: tuple[Array, ...], jaxpr: ClosedJaxpr) -> list[Array]:
    """Each last axis reduced one element after the other."""
    shape = rows[0].shape[:-1]
    outs = [np.empty(shape, x.dtype) for x in rows]
    for at in np.ndindex(shape):
        result = list(inits)
        for i in range(rows[0].shape[-1]):
            result = evaluate(jaxpr, *result, *(np.asarray(x[(*at, i)]) for x in rows))
        for out, value in zip(outs, result):
            out[at] = value
    return outs


def _cumulative(primitive: Primitive, accumulate: Callable[..., Any]) -> None:
    def rule(x: Array, *, axis: int, reverse: bool) -> Array:
        wide = computing(x)
        if reverse:
            wide = np.flip(wide, axis)
        out = accumulate(wide, axis=axis)
        return np.asarray(np.flip(out, axis) if reverse else out).astype(x.dtype)

    reference_rules.set(primitive, quiet(rule))


def _logsumexp(x: Array, axis: int) -> Array:
    if x.dtype.kind != "c":
        return np.logaddexp.accumulate(x, axis=axis)
    # Sums relative to the largest real part so far would need a scan; relative to that of the
    # entire axis they are exact enough in double precision for parts of moderate size.
    largest = np.max(x.real, axis=axis, keepdims=True, initial=-np.inf)
    largest = np.where(np.isfinite(largest), largest, 0)
    return np.log(np.cumsum(np.exp(x - largest), axis=axis)) + largest


_cumulative(r.cumsum_p, np.cumsum)
_cumulative(r.cumprod_p, np.cumprod)
_cumulative(r.cummax_p, np.maximum.accumulate)
_cumulative(r.cummin_p, np.minimum.accumulate)
_cumulative(r.cumlogsumexp_p, _logsumexp)
