"""Contractions of an array in BCOO format with a dense one."""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here

from ..base import Array, over_batches
from .axes import bcoo_transpose, sparse_index_arrays
from .conversions import extracted
from .indices import (
    batch_indices,
    bcoo_sum_duplicates,
    columns,
    in_bounds,
    index_vectors,
    masked,
    padded,
)
from .relayout import batch_to_sparse, bcoo_update_layout
from .stored import S, Stored


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
        vectors = index_vectors(*result, dtype=i.dtype, shape=match.shape)
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
        vectors = index_vectors(*result, dtype=i.dtype, shape=match.shape)
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
    contracted_batch = [a for a in contract if a < n_batch]
    order = [*batch, *free_batch, *contracted_batch]
    mat = bcoo_transpose(mat, permutation=[*order, *range(n_batch, mat.ndim)])
    kept = len(batch) + (len(free_batch) if keep else 0)
    if kept < n_batch:
        mat = batch_to_sparse(mat, n_batch - kept)
    names = [*order, *range(n_batch, mat.ndim)]
    sparse_free = [a for a in free if names.index(a) >= kept]
    positions = [*range(kept), *[names.index(a) for a in (*sparse_free, *contract)]]
    return bcoo_transpose(mat, permutation=positions), len(sparse_free)


class Contraction(NamedTuple):
    """The axes of two operands: contracted, batched, and free."""

    lhs_contract: tuple[int, ...]
    rhs_contract: tuple[int, ...]
    lhs_batch: tuple[int, ...]
    rhs_batch: tuple[int, ...]
    lhs_free: tuple[int, ...]
    rhs_free: tuple[int, ...]

    def swapped(self) -> Contraction:
        """The same seen from the other side."""
        return Contraction(*(self[i] for i in (1, 0, 3, 2, 5, 4)))


def contraction(dimension_numbers: Any, lhs: Sequence[int], rhs: Sequence[int]) -> Contraction:
    """Dimension numbers of a ``dot_general``, checked against two shapes.

    Raises:
        TypeError: lengths differ, or axes are none of the shapes'.
    """
    (lc, rc), (lb, rb) = [
        [tuple(operator.index(a) for a in axes) for axes in pair] for pair in dimension_numbers
    ]
    for kind, left, right in (("contracting", lc, rc), ("batch", lb, rb)):
        if len(left) != len(right) or any(
            not 0 <= a < len(lhs) or not 0 <= b < len(rhs) for a, b in zip(left, right)
        ):
            raise TypeError(
                f"dot_general requires {kind} dimensions that both operands have, got {left} and "
                f"{right} for shapes {tuple(lhs)} and {tuple(rhs)}{here()}"
            )
        sizes = tuple(lhs[a] for a in left), tuple(rhs[b] for b in right)
        if sizes[0] != sizes[1]:
            raise TypeError(
                f"dot_general requires {kind} dimensions to have the same shape, got {sizes[0]} "
                f"and {sizes[1]}{here()}"
            )
    lf = tuple(a for a in range(len(lhs)) if a not in (*lc, *lb))
    rf = tuple(a for a in range(len(rhs)) if a not in (*rc, *rb))
    return Contraction(lc, rc, lb, rb, lf, rf)


def bcoo_dot_general(
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: None = None,
    preferred_element_type: Any = None,
    out_sharding: None = None,
) -> Any:
    """A contraction of two arrays at least one of which is sparse.

    Args:
        lhs, rhs: arrays in BCOO format, or dense ones.
        dimension_numbers: ``((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch))``, as in
            :func:`dovetail.lax.dot_general`. Batch axes of the product are batch axes of sparse
            operands; contracted ones are not dense.
        precision, out_sharding: there for the sake of ``dot_general``'s signature.
        preferred_element_type: the dtype of the result.

    Returns:
        A dense array, or where both operands are sparse a sparse one.

    Raises:
        NotImplementedError: axes of a sparse operand are of a kind that cannot take part so.
        TypeError: shapes and dimension numbers do not fit together.
    """
    axes = contraction(dimension_numbers, lhs.shape, rhs.shape)
    if isinstance(lhs, Stored) and isinstance(rhs, Stored):
        return sparse_product(lhs, rhs, axes, preferred_element_type)
    if isinstance(lhs, Stored):
        return sparse_dense(lhs, dnp.asarray(rhs), axes, preferred_element_type)
    if isinstance(rhs, Stored):
        out = sparse_dense(rhs, dnp.asarray(lhs), axes.swapped(), preferred_element_type)
        batch, right, left = len(axes.lhs_batch), len(axes.rhs_free), len(axes.lhs_free)
        middle, end = batch + right, batch + right + left
        return dnp.transpose(out, (*range(batch), *range(middle, end), *range(batch, middle)))
    return lax.dot_general(
        lhs, rhs, dimension_numbers, precision=precision,
        preferred_element_type=preferred_element_type,
    )  # fmt: skip


def sparse_dense(lhs: Stored, rhs: Array, axes: Contraction, dtype: Any = None) -> Array:
    """Rows of ``rhs`` where ``lhs`` stores elements, times these, added up where they go."""
    n_batch, n_sparse, n_dense, _ = lhs.layout
    _check_kinds(lhs, axes)
    dtype = dnp.result_type(lhs.dtype, rhs.dtype) if dtype is None else dnp.dtype(dtype)
    positions = sparse_index_arrays(lhs)
    data = lhs.full_parts()[0].astype(dtype)
    rhs = dnp.transpose(rhs, (*axes.rhs_batch, *axes.rhs_contract, *axes.rhs_free)).astype(dtype)
    chosen = tuple(positions[a] for a in (*axes.lhs_batch, *axes.lhs_contract))
    stored = data.shape[: n_batch + 1]
    rows = rhs.at[chosen].get(mode="fill", fill_value=0) if chosen else rhs
    free = tuple(rhs.shape[len(chosen) :])
    padding = (1,) * (len(stored) - (rows.ndim - len(free)))
    lead = rows.shape[: rows.ndim - len(free)]
    rows = dnp.reshape(rows, (*padding, *lead, *(1,) * n_dense, *free))
    product = dnp.reshape(data, (*data.shape, *(1,) * len(free))) * rows
    kept = [a for a in axes.lhs_free if a < n_batch + n_sparse]
    targets = tuple(positions[a] for a in (*axes.lhs_batch, *kept))
    shape = [lhs.shape[a] for a in (*axes.lhs_batch, *axes.lhs_free)] + list(free)
    if not targets:
        return dnp.sum(product, axis=tuple(range(n_batch + 1)), dtype=dtype)
    targets = (dnp.broadcast_to(targets[0], stored), *targets[1:])
    return dnp.zeros(shape, dtype).at[targets].add(product, mode="drop")


def _check_kinds(lhs: Stored, axes: Contraction) -> None:
    if any(a >= lhs.n_batch + lhs.n_sparse for a in axes.lhs_contract):
        raise NotImplementedError(
            f"bcoo_dot_general: contracting over dense dimensions{here()}. update_layout makes "
            "them sparse."
        )
    if any(a >= lhs.n_batch for a in axes.lhs_batch):
        raise NotImplementedError(
            "bcoo_dot_general batch dimensions must be among the batch dimensions in the sparse "
            f"representation; got batch dimensions {axes.lhs_batch}, n_batch={lhs.n_batch}{here()}"
        )


def bcoo_dot_general_sampled(A: Any, B: Any, indices: Any, *, dimension_numbers: Any) -> Array:
    """Some elements of a contraction of two dense arrays, without computing the others.

    Args:
        indices: of shape ``(*batch, nse, n_sparse)``, for axes of the contraction's result.

    Returns:
        The elements: ``data`` of an array in BCOO format with these indices; 0 where they are out
        of bounds.
    """
    A, B, indices = dnp.asarray(A), dnp.asarray(B), dnp.asarray(indices)
    axes = contraction(dimension_numbers, A.shape, B.shape)
    n_batch, n_sparse = indices.ndim - 2, indices.shape[-1]
    count = len(axes.lhs_batch) + len(axes.lhs_free) + len(axes.rhs_free)
    if n_batch + n_sparse != count:
        return extracted(indices, lax.dot_general(A, B, dimension_numbers))
    shape = [A.shape[a] for a in (*axes.lhs_batch, *axes.lhs_free)]
    positions = (*batch_indices((*shape, *[B.shape[a] for a in axes.rhs_free])[:n_batch]),
              *columns(indices))  # fmt: skip
    b, f = len(axes.lhs_batch), len(axes.lhs_batch) + len(axes.lhs_free)
    lhs = _rows(A, (*axes.lhs_batch, *axes.lhs_free), axes.lhs_contract, positions[:f])
    rhs = _rows(
        B, (*axes.rhs_batch, *axes.rhs_free), axes.rhs_contract, (*positions[:b], *positions[f:])
    )
    summed = tuple(range(-len(axes.lhs_contract), 0))
    return dnp.sum(lhs * rhs, axis=summed, dtype=dnp.result_type(A, B))


def _rows(x: Array, kept: Sequence[int], contracted: Sequence[int], positions: Any) -> Array:
    x = dnp.transpose(x, (*kept, *contracted))
    return x.at[tuple(positions)].get(mode="fill", fill_value=0) if positions else x
