"""Random permutations and choices, also by weight."""

from __future__ import annotations

from math import ceil, log, prod
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.errors import integer_too_large
from dovetail_base.source import short_repr
from dovetail_core import here, type_shardings
from dovetail_lax import dtypes

from ..arguments import (
    Shape,
    arrays,
    broadcast,
    check_key,
    check_mode,
    float_dtype,
    open_key,
    shape_of,
)
from ..implementations import fused
from ..keys import Key
from .continuous import MODES, default_mode, gumbel_of
from .discrete import integers
from .uniform import random_bits, split_keys, unit

U32_MAX = (1 << 32) - 1


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Any:
    """``x`` with the order along one axis drawn at random.

    Args:
        key: a typed or a raw key.
        x: an array, or an integer n for a permutation of 0, ..., n - 1.
        axis: the axis along which slices are reordered.
        independent: True to reorder each one-dimensional slice separately.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, permutation, key, x, axis, independent
        )
    key = check_key("permutation", key)
    x = given("permutation", x)
    if not np.ndim(x):
        arguments.axis_of("permutation", axis, 1)
        return _permuted_range(key, size=count_of("permutation", x))
    x = dnp.asarray(x)
    return _permutation(
        key, x, axis=arguments.axis_of("permutation", axis, x.ndim), independent=bool(independent)
    )


def given(name: str, x: Any) -> Any:
    """An array, or a count, to draw from; objects with ``__jax_array__`` are converted.

    Raises:
        TypeError: it is a list, which would be an array only after a conversion.
    """
    if isinstance(x, (list, tuple)):
        raise TypeError(
            f"{name} takes an array or a number, got {short_repr(x)} of type "
            f"{type(x).__name__}{here()}. Convert it with dovetail.numpy.asarray."
        )
    return arguments.array_of(x)


def count_of(name: str, x: Any, floating: bool = False) -> int:
    """A count of elements to choose from; ``floating``: also an integral one of a floating type.

    Raises:
        TypeError: it is not an integer.
    """
    kind = "i" if isinstance(x, int) else getattr(getattr(x, "dtype", None), "kind", "?")
    if floating and (kind == "f" or isinstance(x, float)) and int(x) == x:
        return int(x)
    if kind not in "iu":
        raise TypeError(
            f"{name} takes an array or an integer, got {x!r} of type {type(x).__name__}{here()}"
        )
    if not -(1 << 31) <= int(x) < 1 << 31 and int(x) > dtypes.iinfo(dtypes.as_dtype(int)).max:
        raise integer_too_large(int(x), dtypes.as_dtype(int))
    return int(x)


@fused(static=("size",))
def _permuted_range(key: Any, *, size: int) -> Any:
    return shuffled(open_key(key), lax.iota(int, max(size, 0)), 0)


@fused(static=("axis", "independent"))
def _permutation(key: Any, x: Any, *, axis: int, independent: bool) -> Any:
    keys = open_key(key)
    if independent or len(x.shape) == 1:
        return shuffled(keys, x, axis)
    order = shuffled(keys, lax.iota(int, x.shape[axis]), 0)
    return dnp.take(x, order, axis=axis, unique_indices=True)


def shuffled(keys: Key, x: Any, axis: int) -> Any:
    """``x`` sorted along ``axis`` by random words, repeatedly, since words may be equal.

    With n elements and r rounds the chance that a permutation is not quite uniform is about
    n**2 / 2**(32 r); r is such that n**3 is at most 2**(32 r).
    """
    size = max(1, prod(x.shape))
    for _ in range(ceil(3 * log(size) / log(U32_MAX))):
        keys, draw = split_keys(keys, 2)
        words = random_bits(draw, 32, x.shape)
        _, x = lax.sort((words, x), dimension=axis, num_keys=1)
    return x


def choice(
    key: Any,
    a: Any,
    shape: Any = (),
    replace: bool = True,
    p: Any = None,
    axis: int = 0,
    mode: str | None = None,
) -> Any:
    """Elements drawn from an array.

    Args:
        key: a typed or a raw key.
        a: the array, or an integer n for 0, ..., n - 1.
        shape: the shape of the draw; its dimensions replace ``axis`` in the result.
        replace: True if an element may be drawn again.
        p: the probability of each element along ``axis``; None for equal ones.
        axis: the axis of ``a`` whose slices are drawn.
        mode: as in :func:`gumbel`, for draws by ``p`` without replacement.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    key = check_key("choice", key)
    wanted = shape_of("choice", shape)
    a = given("choice", a)
    if np.ndim(a) == 0:
        n, axis = count_of("choice", a, floating=True), 0
        a = None
    else:
        a = dnp.asarray(a)
        axis = arguments.axis_of("choice", axis, a.ndim)
        n = a.shape[axis]
    _check_draws(n, prod(wanted), replace)
    if p is not None:
        (p,) = arrays("choice", p)
        if np.shape(p) != (n,):
            raise ValueError(
                f"choice: p must have one probability for each of the {n} elements, got shape "
                f"{np.shape(p)}{here()}"
            )
        mode = default_mode() if mode is None else mode
        check_mode("choice", mode, MODES)
    return _choice(
        key, a, p, n=n, shape=wanted, replace=bool(replace), axis=axis, mode=mode or "low"
    )


def _check_draws(n: int, draws: int, replace: bool) -> None:
    if n <= 0 and draws:
        raise ValueError(
            f"choice: there is nothing to draw from: a is empty (or not positive){here()}"
        )
    if not replace and draws > n:
        raise ValueError(
            f"choice: {draws} elements cannot be drawn from {n} without replacement. Draw fewer, "
            "or with replace=True."
        )


@fused(static=("n", "shape", "replace", "axis", "mode"))
def _choice(
    key: Any, a: Any, p: Any, *, n: int, shape: Shape, replace: bool, axis: int, mode: str
) -> Any:
    keys = open_key(key)
    draws = prod(shape)
    if draws == 0:
        order = lax.full(shape, 0, int)
    elif p is None and not replace:
        if a is None:
            order = lax.slice_in_dim(shuffled(keys, lax.iota(int, n), 0), 0, draws)
        else:  # the first slices of permutation(a)
            result = lax.slice_in_dim(
                _permutation(keys, a, axis=axis, independent=False), 0, draws, axis=axis
            )
            return lax.reshape(result, (*a.shape[:axis], *shape, *a.shape[axis + 1 :]))
        order = lax.reshape(order, shape)
    elif p is None:
        index = dtypes.as_dtype(int)
        order = integers(keys, shape, index, index.type(0), index.type(min(n, np.iinfo(index).max)))
    else:
        order = _by_weight(keys, p, shape, replace, mode)
    return order if a is None else dnp.take(a, order, axis=axis)


def _by_weight(keys: Key, p: Any, shape: Shape, replace: bool, mode: str) -> Any:
    index = dtypes.as_dtype(int)
    dtype = float_dtype("choice", p.dtype if p.dtype.kind not in "iub" else None)
    p = lax.convert_element_type(p, dtype)
    if not replace:  # the largest of log p plus Gumbel numbers
        scores = lax.add(gumbel_of(keys, p.shape, dtype, mode), lax.log(p))
        order = lax.top_k(scores, prod(shape))[1]
    else:
        cumulated = dnp.cumsum(p)
        total = lax.index_in_dim(cumulated, p.shape[0] - 1, 0, keepdims=False)
        r = lax.mul(lax.sub(dtype.type(1), unit(keys, shape, dtype)), total)
        order = dnp.searchsorted(cumulated, r)
    return lax.reshape(lax.convert_element_type(order, index), shape)


def categorical(
    key: Any,
    logits: Any,
    axis: int = -1,
    shape: Any = None,
    replace: bool = True,
    mode: str | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Indices drawn with probabilities proportional to ``exp(logits)``.

    Args:
        key: a typed or a raw key.
        logits: an array; each slice along ``axis`` is a distribution.
        axis: the axis of the categories.
        shape: the shape of the result; its last dimensions are those of ``logits`` without
            ``axis``. None for those alone.
        replace: True if the leading dimensions of ``shape`` may hold an index twice.
        mode: as in :func:`gumbel`.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, categorical, key, logits, axis, shape, replace, mode
        )
    key = check_key("categorical", key)
    logits = dnp.asarray(logits)
    mode = default_mode() if mode is None else mode
    check_mode("categorical", mode, MODES)
    axis = arguments.axis_of("categorical", axis, logits.ndim)
    batch = (*logits.shape[:axis], *logits.shape[axis + 1 :])
    wanted = batch if shape is None else shape_of("categorical", shape)
    leading = len(wanted) - len(batch)
    if leading < 0 or broadcast(wanted[leading:], batch) != wanted[leading:]:
        raise ValueError(
            f"categorical: shape {wanted} must end with the shape of logits without axis {axis}, "
            f"{batch}{here()}"
        )
    prefix = wanted[:leading]
    if not replace and prod(prefix) > logits.shape[axis]:
        raise ValueError(
            f"categorical: {prod(prefix)} indices cannot be drawn from {logits.shape[axis]} "
            "categories without replacement. Draw fewer, or with replace=True."
        )
    return _categorical(
        key,
        logits,
        axis=axis,
        prefix=prefix,
        batch=wanted[leading:],
        replace=bool(replace),
        mode=mode,
    )


@fused(static=("axis", "prefix", "batch", "replace", "mode"))
def _categorical(
    key: Any, logits: Any, *, axis: int, prefix: Shape, batch: Shape, replace: bool, mode: str
) -> Any:
    keys = open_key(key)
    dtype = float_dtype("categorical", logits.dtype if logits.dtype.kind not in "iub" else None)
    logits = lax.convert_element_type(logits, dtype)
    index = dtypes.as_dtype(int)
    n = logits.shape[axis]
    if replace:
        inner = (*batch[:axis], n, *batch[axis:])
        full = (*prefix, *inner)
        noise = gumbel_of(keys, full, dtype, mode)
        dims = tuple(range(len(full) - len(logits.shape), len(full)))
        scores = lax.add(noise, lax.broadcast_in_dim(logits, full, dims))
        return lax.argmax(scores, axis + len(prefix), index)
    scores = lax.add(gumbel_of(keys, logits.shape, dtype, mode), logits)
    best = lax.top_k(dnp.moveaxis(scores, axis, -1), prod(prefix))[1]
    return lax.reshape(dnp.moveaxis(best, -1, 0), (*prefix, *batch))  # of int32, in any mode
