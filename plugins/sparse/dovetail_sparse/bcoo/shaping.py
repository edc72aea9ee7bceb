"""Arrays in BCOO format in other shapes, and joined."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from .axes import bcoo_transpose
from .indices import columns, in_bounds, index_vectors, padded
from .stored import S, Stored


def bcoo_reshape(
    mat: S,
    *,
    new_sizes: Sequence[int],
    dimensions: Sequence[int] | None = None,
    sharding: Any = None,
) -> S:
    """The array in another shape; batch, sparse and dense axes are reshaped each by themselves.

    Args:
        dimensions: the order in which the axes are read.

    Raises:
        ValueError: the shape has another size, or would mix axes of different kinds.
        NotImplementedError: ``sharding`` is given.
    """
    if sharding is not None:
        raise NotImplementedError(f"bcoo_reshape with a sharding is not there{here()}")
    new = tuple(operator.index(n) for n in new_sizes)
    if dimensions is not None:
        mat = bcoo_transpose(mat, permutation=dimensions)
    n_batch = _count(new, math.prod(mat.batch_shape), mat, "batch", "n_batch", mat.n_batch)
    rest = new[n_batch:][::-1]
    n_dense = _count(rest, math.prod(mat.dense_shape), mat, "dense", "n_dense", mat.n_dense, new)
    batch, sparse = new[:n_batch], new[n_batch : len(new) - n_dense]
    if math.prod(sparse) != math.prod(mat.sparse_shape):
        raise _mixed(mat, new, "dense", "n_dense", mat.n_dense)
    data, indices = mat.full_parts()
    inside = in_bounds(indices, mat.sparse_shape)
    flat: Any = dnp.zeros(indices.shape[:-1], indices.dtype)
    for column, size in zip(columns(indices), mat.sparse_shape):
        flat = flat * size + column
    result: list[Any] = []
    for size in reversed(sparse):
        result.insert(0, flat % max(size, 1))
        flat = flat // max(size, 1)
    vectors = index_vectors(*result, dtype=indices.dtype, shape=inside.shape)
    if sparse:
        vectors = padded(inside, vectors, sparse)
    data = dnp.reshape(data, (*batch, mat.nse, *new[len(new) - n_dense :]))
    return mat.like(data, dnp.reshape(vectors, (*batch, mat.nse, len(sparse))), new)


def _count(
    sizes: tuple[int, ...], wanted: int, mat: Stored, kind: str, what: str, old: int,
    shown: tuple[int, ...] | None = None,
) -> int:  # fmt: skip
    """The count of first ``sizes`` that have the product ``wanted``."""
    if not old:
        return 0
    fitting = [k for k in range(len(sizes) + 1) if math.prod(sizes[:k]) == wanted]
    if not fitting:
        raise _mixed(mat, shown or sizes, kind, what, old)
    return min(fitting, key=lambda k: abs(k - old))


def _mixed(mat: Stored, new: tuple[int, ...], kind: str, what: str, old: int) -> ValueError:
    kinds = "batch and sparse" if kind == "batch" else "sparse and dense"
    return ValueError(
        f"bcoo_reshape: new shape cannot mix {kinds} dimensions; got shape={mat.shape} "
        f"new_shape={new} with {what}={old}{here()}"
    )


def bcoo_concatenate(operands: Sequence[S], *, dimension: int) -> S:
    """Arrays of one layout joined along a batch or sparse axis.

    Raises:
        ValueError: there are none, or their layouts differ.
        TypeError: shapes differ along another axis, or there is no such axis.
        NotImplementedError: the axis is dense.
    """
    operands = list(operands)
    if not operands:
        raise ValueError(f"concatenate requires a non-empty sequences of arrays{here()}")
    axis = operator.index(dimension)
    _check_joined(operands, axis)
    first = operands[0]
    dtype = dnp.result_type(*[m.dtype for m in operands])
    index_dtype = dnp.result_type(*[m.indices.dtype for m in operands])
    shape = list(first.shape)
    shape[axis] = sum(m.shape[axis] for m in operands)
    if axis < first.n_batch:
        nse = max(m.nse for m in operands)
        parts = [_with_nse(m, nse) for m in operands]
        joined = axis
    else:
        parts = _shifted(operands, axis - first.n_batch, shape[axis])
        joined = first.n_batch
    data = dnp.concatenate([d.astype(dtype) for d, _ in parts], axis=joined)
    indices = dnp.concatenate([i.astype(index_dtype) for _, i in parts], axis=joined)
    return first.like(data, indices, shape)


def _check_joined(operands: Sequence[Stored], axis: int) -> None:
    first = operands[0]
    shapes = ", ".join(str(m.shape) for m in operands)
    if not 0 <= axis < first.ndim:
        raise TypeError(
            f"concatenate dimension out of bounds: dimension {axis} for shapes {shapes}{here()}"
        )
    for kind in ("batch", "dense"):
        if len({getattr(m, f"n_{kind}") for m in operands}) > 1:
            raise ValueError(
                f"bcoo_concatenate requires inputs to have matching {kind} dimensions{here()}"
            )
    if len({(*m.shape[:axis], None, *m.shape[axis + 1 :]) for m in operands}) > 1:
        raise TypeError(
            "Cannot concatenate arrays with shapes that differ in dimensions other than the one "
            f"being concatenated: concatenating along dimension {axis} for shapes {shapes}{here()}"
        )
    if axis >= first.n_batch + first.n_sparse:
        raise NotImplementedError(
            f"Concatenation along dense dimensions{here()}. update_layout changes what axes are."
        )


def _with_nse(mat: Stored, nse: int) -> tuple[Any, Any]:
    """Data and indices with padding up to ``nse`` elements."""
    data, indices = mat.full_parts()
    missing = nse - mat.nse
    if not missing:
        return data, indices
    beyond = dnp.asarray(mat.sparse_shape, indices.dtype)
    more = dnp.broadcast_to(beyond, (*mat.batch_shape, missing, mat.n_sparse))
    zeros = dnp.zeros((*mat.batch_shape, missing, *mat.dense_shape), mat.dtype)
    joined = mat.n_batch
    return dnp.concatenate([data, zeros], joined), dnp.concatenate([indices, more], joined)


def _shifted(operands: Sequence[Stored], axis: int, size: int) -> list[tuple[Any, Any]]:
    """Data and indices of arrays that follow one another along a sparse axis."""
    out: list[tuple[Any, Any]] = []
    offset = 0
    for m in operands:
        data, indices = m.full_parts()
        result = list(columns(indices))
        old, length = result[axis], m.sparse_shape[axis]
        result[axis] = dnp.where((old >= 0) & (old < length), old + offset, size)
        out.append((data, index_vectors(*result, dtype=indices.dtype, shape=indices.shape[:-1])))
        offset += length
    return out
