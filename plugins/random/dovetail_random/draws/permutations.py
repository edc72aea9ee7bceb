"""Random orders."""

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
    check_key,
    open_key,
)
from ..fusing import fused
from ..keys import Key
from .uniform import random_bits, split_keys

U32_MAX = (1 << 32) - 1


def permutation(
    key: Any, x: Any, axis: int = 0, independent: bool = False, *, out_sharding: Any = None
) -> Any:
    """``x`` with the order along one axis drawn at random.

    Args:
        key: a typed or a raw key.
        x: an array, or an integer n for a permutation of 0, ..., n - 1.
        axis: the axis along which slices are reordered.
        independent: whether each one-dimensional slice is reordered by itself.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, permutation, key, x, axis, independent
        )
    key = check_key("permutation", key)
    x = given("permutation", x)
    if not np.ndim(x):
        axis_of("permutation", axis, 1)
        return _permuted_range(key, size=count_of("permutation", x))
    x = dnp.asarray(x)
    return _permutation(
        key, x, axis=axis_of("permutation", axis, x.ndim), independent=bool(independent)
    )


def given(name: str, x: Any) -> Any:
    """An array, or a number of things, to draw from; also of what stands for an array.

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
    """A number of things to choose from; ``floating``: also a whole one of a floating type.

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


def axis_of(name: str, axis: Any, ndim: int) -> int:
    """An axis as a number from 0.

    Raises:
        ValueError: it is out of bounds.
    """
    axis = arguments.integer("axis", axis)
    if not -ndim <= axis < ndim:
        raise ValueError(
            f"{name}: axis {axis} is out of bounds for an array of {ndim} dimensions{here()}"
        )
    return axis % ndim


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
    """``x`` sorted along ``axis`` by random words, so often that ties hardly matter.

    With n elements and r rounds the chance that a permutation is not quite uniform is about
    n**2 / 2**(32 r); r is such that n**3 is at most 2**(32 r).
    """
    size = max(1, prod(x.shape))
    for _ in range(ceil(3 * log(size) / log(U32_MAX))):
        keys, draw = split_keys(keys, 2)
        words = random_bits(draw, 32, x.shape)
        _, x = lax.sort((words, x), dimension=axis, num_keys=1)
    return x
