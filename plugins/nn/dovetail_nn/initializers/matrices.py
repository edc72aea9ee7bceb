"""Initializers of orthogonal matrices."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_base import arguments
from dovetail_core import here, type_shardings

from .basic import Array, DTypeLike, Initializer, as_dtype, scaled


def orthogonal(scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike = None) -> Initializer:
    """An initializer of uniformly distributed orthogonal matrices, times ``scale``.

    Args:
        scale: a number.
        column_axis: the axis of the columns; all others together are the rows.
        dtype: the default dtype of what it makes.

    Raises:
        ValueError: (the initializer) the shape has less than two dimensions.
    """
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        shape = arguments.integers("shape", shape)
        if len(shape) < 2:
            raise ValueError(
                "the orthogonal initializer needs a shape of two dimensions or more, got "
                f"{tuple(shape)}{here()}"
            )
        n = shape[_column(column_axis, shape)]
        rest = [d for i, d in enumerate(shape) if i != column_axis % len(shape)]
        q = random.orthogonal(key, n, (), as_dtype(dtype), prod(rest))
        if n == prod(rest):  # as JAX has it: columns become rows where there are not fewer of them
            q = dnp.matrix_transpose(q)
        elif n < prod(rest):  # which have the phases of the columns that were drawn
            q = dnp.conj(q)
        return scaled(dnp.moveaxis(dnp.reshape(q, (n, *rest)), 0, column_axis), scale)

    return init


def delta_orthogonal(
    scale: Any = 1.0, column_axis: int = -1, dtype: DTypeLike = None
) -> Initializer:
    """An initializer of convolution kernels: orthogonal at the centre, zero elsewhere.

    Args:
        scale, column_axis, dtype: as in :func:`orthogonal`.

    Raises:
        ValueError: (the initializer) the shape has not 3, 4 or 5 dimensions, or more inputs (the
            axis before the last) than outputs (the last axis).
    """
    default = dtype

    def init(
        key: Any, shape: Sequence[int], dtype: DTypeLike = default, out_sharding: Any = None
    ) -> Array:
        if out_sharding is not None:
            return type_shardings.with_out_sharding(out_sharding, init, key, shape, dtype)
        shape = arguments.integers("shape", shape)
        if len(shape) not in (3, 4, 5):
            raise ValueError(
                f"the delta-orthogonal initializer needs a shape of 3, 4 or 5 dimensions, got "
                f"{tuple(shape)}{here()}"
            )
        if shape[-1] < shape[-2]:
            raise ValueError(
                "the delta-orthogonal initializer needs at least as many outputs (the last axis) "
                f"as inputs, got shape {tuple(shape)}{here()}"
            )
        result = as_dtype(dtype)
        matrix = orthogonal(scale, column_axis, result)(key, tuple(shape[-2:]), result)
        centre = tuple([(d - 1) // 2 for d in shape[:-2]])
        return dnp.zeros(shape, result).at[centre].set(matrix)

    return init


def _column(axis: Any, shape: Sequence[int]) -> int:
    result = arguments.integer("column_axis", axis)
    if not -len(shape) <= result < len(shape):
        raise ValueError(f"column_axis {axis} is out of bounds for the shape {shape}{here()}")
    return result
