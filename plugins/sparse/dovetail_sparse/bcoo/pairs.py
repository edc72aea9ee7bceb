"""Products of two arrays in BCOO format: of each element of one with each of the other."""

from __future__ import annotations

import math
from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from ..batches import over_batches
from .axes import bcoo_transpose
from .order import bcoo_sum_duplicates
from .places import columns, in_bounds, masked, padded, together
from .relayout import batch_to_sparse, bcoo_update_layout
from .stored import S, Stored

Array = Any


def bcoo_multiply_sparse(lhs: S, rhs: S) -> S:
    """The product, element by element; axes of length 1 are broadcast.

    Raises:
        TypeError: the numbers of axes differ, or lengths do not fit together.
        NotImplementedError: the numbers of dense axes differ.
    """
    if lhs.ndim != rhs.ndim:
        raise TypeError(
            "bcoo_multiply_sparse: arrays must have same number of dimensions, got "
            f"{lhs.shape}, {rhs.shape}{here()}"
        )
    if lhs.n_dense != rhs.n_dense:
        raise NotImplementedError(
            "bcoo_multiply_sparse: arrays with differing numbers of dense dimensions: "
            f"{lhs.layout}, {rhs.layout}{here()}"
        )
    shape = broadcast_shapes("mul", lhs.shape, rhs.shape)
    n_batch = min(lhs.n_batch, rhs.n_batch)
    lhs = bcoo_update_layout(lhs, n_batch=n_batch)
    rhs = bcoo_update_layout(rhs, n_batch=n_batch)
    sparse_shape = shape[n_batch : n_batch + lhs.n_sparse]
    parts = [_in_batches(m, shape[:n_batch]) for m in (lhs, rhs)]

    def one(x: Array, i: Array, y: Array, j: Array) -> tuple[Array, Array]:
        match = in_bounds(i, lhs.sparse_shape)[:, None] & in_bounds(j, rhs.sparse_shape)[None]
        result: list[Array] = []
        for a, b, n, m in zip(columns(i), columns(j), lhs.sparse_shape, rhs.sparse_shape):
            if n == m:
                match &= a[:, None] == b[None]
            result.append(a[:, None] if m == 1 else b[None])
        vectors = together(*result, dtype=i.dtype, shape=match.shape)
        product = masked(match, x[:, None] * y[None])
        vectors = padded(match, vectors, sparse_shape)
        count = match.size
        return (
            dnp.reshape(product, (count, *product.shape[2:])),
            dnp.reshape(vectors, (count, len(sparse_shape))),
        )

    data, indices = over_batches(one, n_batch)(*parts[0], *parts[1])
    return lhs.like(data, indices, shape)


def broadcast_shapes(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that shapes broadcast to.

    Raises:
        TypeError: they do not.
    """
    try:
        return dnp.broadcast_shapes(*shapes)
    except (TypeError, ValueError):
        raise TypeError(
            f"{name} got incompatible shapes for broadcasting: "
            f"{', '.join(map(str, shapes))}{here()}"
        ) from None


def _in_batches(mat: Stored, batch: tuple[int, ...]) -> tuple[Array, Array]:
    data, indices = mat.data, mat.indices
    n = len(batch)
    return (
        dnp.broadcast_to(data, batch + data.shape[n:]),
        dnp.broadcast_to(indices, batch + indices.shape[n:]),
    )


def sparse_product(lhs: S, rhs: S, axes: Any, dtype: Any = None) -> S:
    """A contraction of two sparse arrays. ``axes`` is a :class:`.products.Contraction`."""
    _check(lhs, rhs, axes)
    dtype = dnp.result_type(lhs.dtype, rhs.dtype) if dtype is None else dnp.dtype(dtype)
    shape = [lhs.shape[a] for a in (*axes.lhs_batch, *axes.lhs_free)]
    shape += [rhs.shape[a] for a in axes.rhs_free]
    n_dot = len(axes.lhs_batch)
    lhs, left = _arranged(lhs, axes.lhs_batch, axes.lhs_free, axes.lhs_contract, keep=True)
    rhs, right = _arranged(rhs, axes.rhs_batch, axes.rhs_free, axes.rhs_contract, keep=False)
    n_batch = lhs.n_batch
    sparse_shape = tuple(shape[n_batch:])

    def one(x: Array, i: Array, y: Array, j: Array) -> tuple[Array, Array]:
        match = in_bounds(i, lhs.sparse_shape)[:, None] & in_bounds(j, rhs.sparse_shape)[None]
        a, b = columns(i), columns(j)
        for p, q in zip(a[left:], b[right:]):
            match &= p[:, None] == q[None]
        result = [*[c[:, None] for c in a[:left]], *[c[None] for c in b[:right]]]
        vectors = together(*result, dtype=i.dtype, shape=match.shape)
        vectors = padded(match, vectors, sparse_shape)
        product = masked(match, x[:, None].astype(dtype) * y[None].astype(dtype))
        return dnp.reshape(product, (-1,)), dnp.reshape(vectors, (match.size, len(sparse_shape)))

    x, i = lhs.full_parts()
    y, j = rhs.full_parts()
    between = tuple(range(n_dot, n_batch))  # batch axes that lhs alone has
    y, j = dnp.expand_dims(y, between), dnp.expand_dims(j, between)
    y = dnp.broadcast_to(y, (*lhs.batch_shape, rhs.nse))
    j = dnp.broadcast_to(j, (*lhs.batch_shape, rhs.nse, rhs.n_sparse))
    data, indices = over_batches(one, n_batch)(x, i, y, j)
    out = lhs.like(data, indices, shape)
    most = math.prod(sparse_shape)
    return bcoo_sum_duplicates(out, most) if out.nse > most else out


def _check(lhs: Stored, rhs: Stored, axes: Any) -> None:
    if lhs.n_dense or rhs.n_dense:
        raise NotImplementedError(
            f"bcoo_dot_general of two sparse arrays one of which has dense axes{here()}. "
            "update_layout(n_dense=0) makes them sparse."
        )
    batches = [(a, lhs.n_batch) for a in axes.lhs_batch] + [
        (a, rhs.n_batch) for a in axes.rhs_batch
    ]
    if any(a >= n for a, n in batches):
        raise NotImplementedError(
            "bcoo_dot_general: batch dimensions must be batch dimensions of both sparse "
            f"representations{here()}"
        )


def _arranged(mat: S, batch: Any, free: Any, contract: Any, keep: bool) -> tuple[S, int]:
    """``mat`` with its axes in the order batch, free, contracted; how many free ones are sparse.

    Batch axes are those of ``batch``, and free ones if they are to ``keep`` their kind.
    """
    n_batch = mat.n_batch
    free_batch = [a for a in free if a < n_batch]
    gone = [a for a in contract if a < n_batch]
    order = [*batch, *free_batch, *gone]
    mat = bcoo_transpose(mat, permutation=[*order, *range(n_batch, mat.ndim)])
    kept = len(batch) + (len(free_batch) if keep else 0)
    if kept < n_batch:
        mat = batch_to_sparse(mat, n_batch - kept)
    names = [*order, *range(n_batch, mat.ndim)]
    sparse_free = [a for a in free if names.index(a) >= kept]
    places = [*range(kept), *[names.index(a) for a in (*sparse_free, *contract)]]
    return bcoo_transpose(mat, permutation=places), len(sparse_free)
