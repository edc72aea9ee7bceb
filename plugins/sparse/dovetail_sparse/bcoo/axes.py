"""Operations on axes of arrays in BCOO format: their order, new and removed ones, sums."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here

from ..base import broadcast_batches
from .indices import batch_indices, columns, in_bounds, index_vectors, masked
from .stored import S, Stored


def canonical_axes(name: str, axes: Any, ndim: int) -> tuple[int, ...]:
    """``axes``, one or several, as non-negative integers.

    Raises:
        ValueError: one is out of bounds, or occurs twice.
    """
    given = tuple(axes) if isinstance(axes, (tuple, list)) else (axes,)  # type: ignore[arg-type]
    result = tuple(operator.index(a) for a in given)
    for a in result:
        if not -ndim <= a < ndim:
            raise ValueError(f"{name}: axis {a} is out of bounds for {ndim} axes{here()}")
    out = tuple(a % ndim for a in result)
    if len(set(out)) < len(out):
        raise ValueError(f"{name}: axes {result} are not all different{here()}")
    return out


def bcoo_transpose(mat: S, *, permutation: Sequence[int]) -> S:
    """The array with its axes in another order, in which batch axes stay first and dense ones last.

    Raises:
        NotImplementedError: an axis would change its kind.
        ValueError: ``permutation`` is none of the axes.
    """
    order = tuple(operator.index(p) for p in permutation)
    if sorted(order) != list(range(mat.ndim)):
        raise ValueError(
            f"transpose: permutation {order} is not one of the {mat.ndim} axes of shape "
            f"{mat.shape}{here()}"
        )
    n_batch, n_sparse, n_dense, _ = mat.layout
    batch, sparse = order[:n_batch], order[n_batch : n_batch + n_sparse]
    dense = order[n_batch + n_sparse :]
    if any(p >= n_batch for p in batch):
        raise NotImplementedError(
            "transpose permutation cannot permute batch axes with non-batch axes; got permutation "
            f"{order}, with n_batch={n_batch}{here()}. update_layout changes what axes are."
        )
    if any(p < n_batch + n_sparse for p in dense):
        raise NotImplementedError(
            "transpose permutation cannot permute dense axes with non-dense axes; got permutation "
            f"{order}, with n_dense={n_dense}{here()}. update_layout changes what axes are."
        )
    data = dnp.transpose(mat.data, (*batch, n_batch, *[p - n_sparse + 1 for p in dense]))
    indices = dnp.transpose(mat.indices, (*batch, n_batch, n_batch + 1))
    kept = sparse == tuple(range(n_batch, n_batch + n_sparse))
    if not kept:
        result = columns(indices)
        chosen = [result[p - n_batch] for p in sparse]
        indices = dnp.stack(chosen, axis=-1)
    shape = [mat.shape[p] for p in order]
    return mat.like(
        data, indices, shape, sorted=kept and mat.indices_sorted, unique=mat.unique_indices
    )


def bcoo_broadcast_in_dim(
    mat: S, *, shape: Sequence[int], broadcast_dimensions: Sequence[int], sharding: Any = None
) -> S:
    """The array with new axes, and batch or dense axes of length 1 repeated.

    Args:
        broadcast_dimensions: for each axis of ``mat`` which one of ``shape`` it becomes, in
            increasing order. New axes before the first sparse one are batched, those after the
            first dense one are dense, others are sparse.

    Raises:
        NotImplementedError: a sparse axis would be repeated, or ``sharding`` is given.
        ValueError: axes do not fit the shape.
    """
    shape, axes = tuple(map(int, shape)), tuple(map(int, broadcast_dimensions))
    if sharding is not None:
        raise NotImplementedError(f"bcoo_broadcast_in_dim with a sharding is not there{here()}")
    _check_broadcast(mat, shape, axes)
    n_batch, n_sparse, n_dense, nse = mat.layout
    sparse_axes = axes[n_batch : n_batch + n_sparse]
    new_dense = len(shape) - axes[n_batch + n_sparse] if n_dense else 0
    new_batch = min(sparse_axes) if n_sparse else len(shape) - new_dense
    new_sparse = range(new_batch, len(shape) - new_dense)
    if any(shape[a] != (mat.shape[axes.index(a)] if a in axes else 1) for a in new_sparse):
        raise NotImplementedError(
            f"Adding sparse dimensions with lengths != 1{here()}: from {mat.shape} to {shape}"
        )
    batch = shape[:new_batch]
    result = columns(mat.full_parts()[1])
    by_axis = {a: _spread(c, axes[:n_batch], new_batch) for a, c in zip(sparse_axes, result)}
    zero = dnp.zeros((1,) * (new_batch + 1), mat.indices.dtype)
    indices = index_vectors(
        *[by_axis.get(a, zero) for a in new_sparse], dtype=mat.indices.dtype, shape=(*batch, nse)
    )
    dense_shape = shape[len(shape) - new_dense :]
    offset = len(new_sparse) - 1
    data = lax.broadcast_in_dim(
        mat.full_parts()[0],
        (*batch, nse, *dense_shape),
        (*axes[:n_batch], new_batch, *[a - offset for a in axes[n_batch + n_sparse :]]),
    )
    return mat.like(data, indices, shape)


def _spread(column: Any, axes: Sequence[int], n_batch: int) -> Any:
    """A column with its batch axes at ``axes`` of ``n_batch`` ones."""
    shape = [1] * n_batch + [column.shape[-1]]
    for a, n in zip(axes, column.shape):
        shape[a] = n
    return dnp.reshape(column, tuple(shape))


def _check_broadcast(mat: Stored, shape: tuple[int, ...], axes: tuple[int, ...]) -> None:
    if len(axes) != mat.ndim or list(axes) != sorted(set(axes)):
        raise ValueError(
            f"broadcast_in_dim: broadcast_dimensions {axes} must have one axis for each of the "
            f"{mat.ndim} axes of shape {mat.shape}, in increasing order{here()}"
        )
    if any(not 0 <= a < len(shape) or n not in (1, shape[a]) for a, n in zip(axes, mat.shape)):
        raise NotImplementedError(
            f"Adding sparse dimensions with lengths != 1{here()}: from {mat.shape} to {shape} by "
            f"broadcast_dimensions {axes}"
        )


def bcoo_squeeze(arr: S, *, dimensions: Sequence[int]) -> S:
    """The array without some axes of length 1.

    Raises:
        ValueError: an axis has another length, or there is none of that number.
    """
    axes = canonical_axes("squeeze", dimensions, arr.ndim)
    if any(arr.shape[a] != 1 for a in axes):
        raise ValueError(
            "cannot select an axis to squeeze out which has size not equal to one, got "
            f"shape={arr.shape} and dimensions={axes}{here()}"
        )
    n_batch, n_sparse, _, _ = arr.layout
    batch = tuple(a for a in axes if a < n_batch)
    dense = tuple(a - n_sparse + 1 for a in axes if a >= n_batch + n_sparse)
    kept = [i for i in range(n_sparse) if i + n_batch not in axes]
    data, indices = arr.data, arr.indices
    if len(kept) < n_sparse:
        inside = in_bounds(indices, arr.sparse_shape)
        batches = dnp.broadcast_shapes(data.shape[:n_batch], indices.shape[:n_batch])
        data, inside = broadcast_batches(batches, data, inside)
        data, result = masked(inside, data), columns(indices)
        chosen = [result[i] for i in kept]
        indices = index_vectors(*chosen, dtype=indices.dtype, shape=indices.shape[:-1])
    data = dnp.squeeze(data, (*batch, *dense))
    shape = [n for a, n in enumerate(arr.shape) if a not in axes]
    return arr.like(
        data, dnp.squeeze(indices, batch), shape,
        sorted=arr.indices_sorted, unique=arr.unique_indices,
    )  # fmt: skip


def bcoo_rev(operand: S, dimensions: Sequence[int]) -> S:
    """The array with its elements along some axes in reverse order.

    Raises:
        ValueError: an axis is out of bounds, or occurs twice.
    """
    axes = canonical_axes("rev", dimensions, operand.ndim)
    n_batch, n_sparse, _, _ = operand.layout
    batch = tuple(a for a in axes if a < n_batch)
    dense = tuple(a - n_sparse + 1 for a in axes if a >= n_batch + n_sparse)
    sparse = [a - n_batch for a in axes if n_batch <= a < n_batch + n_sparse]
    data = dnp.flip(operand.data, (*batch, *dense))
    indices = dnp.flip(operand.indices, batch)
    if sparse:
        result = list(columns(indices))
        for i in sparse:
            size = operand.sparse_shape[i]
            inside = (result[i] >= 0) & (result[i] < size)
            result[i] = dnp.where(inside, size - 1 - result[i], size)
        indices = index_vectors(*result, dtype=indices.dtype, shape=indices.shape[:-1])
    return operand.like(
        data, indices, sorted=not sparse and operand.indices_sorted, unique=operand.unique_indices
    )


def sparse_index_arrays(mat: Stored) -> tuple[Any, ...]:
    """Index arrays of the batch and sparse axes that broadcast to ``(*batch, nse)``."""
    return (*batch_indices(mat.batch_shape, mat.indices.dtype), *columns(mat.full_parts()[1]))


def bcoo_reduce_sum(mat: S, *, axes: Sequence[int]) -> S:
    """The sum along some axes, as a sparse array; elements along sparse axes are not added yet.

    Raises:
        ValueError: an axis is out of bounds, or occurs twice.
    """
    axes = canonical_axes("reduce_sum", tuple(axes), mat.ndim)
    n_batch, n_sparse, _, nse = mat.layout
    data, indices = mat.full_parts()
    dense = tuple(a - n_sparse + 1 for a in axes if a >= n_batch + n_sparse)
    if dense:
        data = dnp.sum(data, axis=dense, dtype=data.dtype)
    kept = [i for i in range(n_sparse) if n_batch + i not in axes]
    if len(kept) < n_sparse:
        data = masked(in_bounds(indices, mat.sparse_shape), data)
        indices = indices[..., dnp.asarray(kept, dnp.int32)] if kept else indices[..., :0]
    kept_batch = [a for a in range(n_batch) if a not in axes]
    summed_batch = [a for a in range(n_batch) if a in axes]
    if summed_batch:
        batch = [mat.shape[a] for a in kept_batch]
        most = nse * math.prod(mat.shape[a] for a in summed_batch)
        order = (*kept_batch, *summed_batch, *range(n_batch, data.ndim))
        data = dnp.reshape(dnp.transpose(data, order), (*batch, most, *data.shape[n_batch + 1 :]))
        order = (*kept_batch, *summed_batch, n_batch, n_batch + 1)
        indices = dnp.reshape(dnp.transpose(indices, order), (*batch, most, len(kept)))
    return mat.like(data, indices, [n for a, n in enumerate(mat.shape) if a not in axes])


def total(
    mat: Stored, axis: Any = None, dtype: Any = None, out: None = None, keepdims: bool = False
) -> Any:
    """The sum along axes, all of them by default: then a dense scalar, otherwise a sparse array."""
    if out is not None:
        raise NotImplementedError(f"sum: the out argument is not supported{here()}")
    axes = tuple(range(mat.ndim)) if axis is None else canonical_axes("sum", axis, mat.ndim)
    wanted = dnp.sum(dnp.zeros((0,), mat.dtype), dtype=dtype).dtype
    converted = mat.with_data(mat.data.astype(wanted))
    result = bcoo_reduce_sum(converted, axes=axes)
    shape = [1 if a in axes else n for a, n in enumerate(mat.shape)]
    if not result.shape:
        scalar = dnp.sum(result.data, dtype=wanted)
        return dnp.reshape(scalar, shape) if keepdims else scalar
    if not keepdims:
        return result
    kept = [a for a in range(mat.ndim) if a not in axes]
    return bcoo_broadcast_in_dim(result, shape=shape, broadcast_dimensions=kept)
