"""Operators of arrays in BCOO format."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_base.source import short_repr
from dovetail_core import here, is_inexact, is_value

from ..base import Array
from .axes import bcoo_broadcast_in_dim, sparse_index_arrays
from .conversions import todense
from .indexing import moved
from .indices import unique
from .products import bcoo_dot_general, bcoo_multiply_sparse, broadcast_shapes
from .stored import S, Stored


def dense_at(mat: Stored, v: Array, fill_value: Any = 0) -> Array:
    """The elements of a dense array where ``mat`` stores some; it broadcasts to ``mat``'s shape.

    Raises:
        NotImplementedError: the dense array is larger.
        ValueError: shapes do not fit together.
    """
    v = dnp.asarray(v)
    if not v.ndim:
        return v
    try:
        shape = broadcast_shapes("mul", mat.shape, v.shape)
    except TypeError as e:
        raise ValueError(str(e)) from None
    if shape != mat.shape:
        raise NotImplementedError(
            "multiplication between sparse and dense is only implemented for cases where the "
            f"output shape matches the sparse matrix shape. Got shape={mat.shape}, "
            f"v.shape={v.shape}{here()}"
        )
    n_batch, n_sparse, n_dense, _ = mat.layout
    v = dnp.reshape(v, (1,) * (mat.ndim - v.ndim) + v.shape)
    kept = [a for a in range(n_batch + n_sparse) if v.shape[a] != 1]
    positions = sparse_index_arrays(mat)
    chosen = tuple(positions[a] for a in kept)
    removed = tuple(a for a in range(n_batch + n_sparse) if a not in kept)
    v = dnp.squeeze(v, removed)
    if not chosen:
        return v
    result = v.at[chosen].get(mode="fill", fill_value=fill_value)
    lead = result.ndim - n_dense
    return dnp.reshape(result, (1,) * (n_batch + 1 - lead) + result.shape)


def bcoo_multiply_dense(sp_mat: Stored, v: Any) -> Array:
    """The data of the product with a dense array, whose indices are those of ``sp_mat``.

    Args:
        v: a dense array that broadcasts to the shape of ``sp_mat``.

    Raises:
        NotImplementedError: the product would be larger than ``sp_mat``.
        ValueError: shapes do not fit together.
    """
    factors = dense_at(sp_mat, v)
    data = sp_mat.data * factors
    full = (*sp_mat.batch_shape, sp_mat.nse, *sp_mat.dense_shape)
    return data if not dnp.ndim(v) else dnp.broadcast_to(data, _at_least(data.shape, full))


def _at_least(result: tuple[int, ...], full: tuple[int, ...]) -> tuple[int, ...]:
    return full[: len(full) - len(result)] + tuple(result)


DENSE = "If this is your intent, use todense() to make the sparse array dense."


def is_dense(x: Any) -> bool:
    """True for a dense array or a number."""
    return isinstance(x, (bool, int, float, complex, np.generic, np.ndarray)) or (
        is_value(x) and hasattr(x, "aval")
    )


def converted(mat: S, dtype: Any) -> S:
    """The same array in another dtype."""
    dtype = dnp.zeros((0,), dtype).dtype
    mat = unique(mat) if loses_fractions(mat.dtype, dtype) else mat
    return mat.with_data(mat.data.astype(dtype))


def loses_fractions(dtype: Any, new: Any) -> bool:
    """True if a conversion removes fractions: that of a sum is not the sum of conversions."""
    return is_inexact(dtype) and not is_inexact(new)


def add(x: Stored, y: Any) -> Any:
    """``x + y`` with a sparse array of the same layout, or a dense one that is as large."""
    if isinstance(y, Stored):
        if x.shape != y.shape:
            raise NotImplementedError(
                f"Addition between sparse matrices of different shapes{here()}: {x.shape} and "
                f"{y.shape}"
            )
        if (x.n_batch, x.n_dense) != (y.n_batch, y.n_dense):
            raise NotImplementedError(
                f"Addition between sparse matrices with different batch/dense dimensions{here()}"
            )
        return _joined(x, y)
    if not is_dense(y):
        return NotImplemented
    if broadcast_shapes("add", x.shape, np.shape(y)) != np.shape(y):
        raise NotImplementedError(
            f"Addition between a sparse array of shape {x.shape} and a dense one of shape "
            f"{np.shape(y)} is not implemented where the result is larger than the dense one"
            f"{here()}: it would silently become dense. {DENSE}"
        )
    return todense(x) + y


def _joined(x: S, y: S) -> S:
    """The sum: the stored elements of both."""
    dtype = dnp.result_type(x.dtype, y.dtype)
    index_dtype = dnp.result_type(x.indices.dtype, y.indices.dtype)
    (a, i), (b, j) = x.full_parts(), y.full_parts()
    data = dnp.concatenate([a.astype(dtype), b.astype(dtype)], x.n_batch)
    indices = dnp.concatenate([i.astype(index_dtype), j.astype(index_dtype)], x.n_batch)
    return x.like(data, indices)


def negative(x: S) -> S:
    """``-x``."""
    return x.with_data(-x.data)


def absolute(x: S) -> S:
    """``abs(x)``."""
    x = unique(x)
    return x.with_data(dnp.abs(x.data))


def subtract(x: Stored, y: Any) -> Any:
    """``x - y``; see :func:`add`."""
    if isinstance(y, Stored):
        return add(x, negative(y))
    return add(x, -dnp.asarray(y)) if is_dense(y) else NotImplemented


def rsubtract(x: Stored, y: Any) -> Any:
    """``y - x``; see :func:`add`."""
    return add(negative(x), y)


def multiply(x: Stored, y: Any) -> Any:
    """``x * y``, element by element."""
    if isinstance(y, Stored):
        broadcast_shapes("mul", x.shape, y.shape)
        ndim = max(x.ndim, y.ndim)
        return bcoo_multiply_sparse(_with_axes(x, ndim), _with_axes(y, ndim))
    if not is_dense(y):
        return NotImplemented
    if not np.ndim(y):
        return x.with_data(x.data * y)
    return x.with_data(bcoo_multiply_dense(x, y))


def _with_axes(x: S, ndim: int) -> S:
    """``x`` with further sparse axes of length 1 in front."""
    more = ndim - x.ndim
    if not more:
        return x
    shape = (1,) * more + x.shape
    return bcoo_broadcast_in_dim(x, shape=shape, broadcast_dimensions=range(more, ndim))


def divide(x: Stored, y: Any) -> Any:
    """``x / y`` with a dense divisor."""
    if isinstance(y, Stored):
        return rdivide(y, x)
    if not is_dense(y):
        return NotImplemented
    if not np.ndim(y):
        return x.with_data(x.data / y)
    data = x.data / dense_at(x, y, fill_value=1)
    full = (*x.batch_shape, x.nse, *x.dense_shape)
    return x.with_data(dnp.broadcast_to(data, full))


def rdivide(x: Any, y: Any) -> Any:
    """``y / x``, which is not sparse."""
    raise NotImplementedError(
        "Division by a sparse array is not implemented because it would result in dense output"
        f"{here()}. {DENSE}"
    )


def power(x: Stored, y: Any) -> Any:
    """``x ** y`` for a positive integer ``y``."""
    try:
        exponent = operator.index(y)
    except TypeError:
        raise NotImplementedError(
            f"powers of a sparse array must be positive integers, got {short_repr(y)}{here()}. "
            f"{DENSE}"
        ) from None
    if exponent <= 0:
        raise NotImplementedError(
            f"a sparse array to the power of {exponent}, which is not positive, is not implemented "
            f"because it would result in dense output{here()}. {DENSE}"
        )
    x = unique(x) if exponent > 1 else x
    return x.with_data(x.data**exponent)


def rpower(x: Stored, y: Any) -> Any:
    """``y ** x``, which is not sparse."""
    raise NotImplementedError(
        "a power with a sparse exponent is not implemented because it would result in dense output"
        f"{here()}. {DENSE}"
    )


def equal(x: Stored, y: Any) -> Any:
    """``x == y``, which is not sparse."""
    raise NotImplementedError(
        "comparing a sparse array is not implemented because it would result in dense output"
        f"{here()}. {DENSE}"
    )


def matmul(x: Any, y: Any) -> Any:
    """``x @ y``, one or both of which are sparse."""
    if not (isinstance(x, Stored) or is_dense(x)) or not (isinstance(y, Stored) or is_dense(y)):
        return NotImplemented
    x, y = (v if isinstance(v, Stored) else dnp.asarray(v) for v in (x, y))
    if not x.ndim or not y.ndim:
        raise TypeError(f"matmul: operands must have axes, got shapes {x.shape}, {y.shape}{here()}")
    last = x.ndim - 1
    inner = max(y.ndim - 2, 0)
    left, right = max(x.ndim - 2, 0), max(y.ndim - 2, 0)
    paired = min(left, right)
    batch = [
        (left - k, right - k)
        for k in range(paired, 0, -1)
        if x.shape[left - k] == y.shape[right - k]
    ]
    lb, rb = tuple(a for a, _ in batch), tuple(b for _, b in batch)
    if len(batch) < paired:
        raise NotImplementedError(
            f"matmul of sparse arrays whose batch axes are broadcast{here()}: shapes {x.shape} and "
            f"{y.shape}"
        )
    out = bcoo_dot_general(x, y, dimension_numbers=(((last,), (inner,)), (lb, rb)))
    return _batches_first(out, paired, left - paired, right - paired, x.ndim > 1)


def _batches_first(out: Any, paired: int, left: int, right: int, has_rows: bool) -> Any:
    """Batch axes that one operand alone has, in front of those of both instead of after them."""
    first = paired if left else paired + int(has_rows)
    own = range(first, first + left + right)
    order = [*own, *[a for a in range(out.ndim) if a not in own]]
    if order == sorted(order):
        return out
    return moved(out, order) if isinstance(out, Stored) else dnp.transpose(out, order)
