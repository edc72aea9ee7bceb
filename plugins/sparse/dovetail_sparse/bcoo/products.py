"""Contractions of an array in BCOO format with a dense one."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, NamedTuple

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here

from .axes import every_place
from .dense import extracted
from .pairs import sparse_product
from .places import batch_places, columns
from .stored import Stored

Array = Any


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
    places = every_place(lhs)
    data = lhs.full_parts()[0].astype(dtype)
    rhs = dnp.transpose(rhs, (*axes.rhs_batch, *axes.rhs_contract, *axes.rhs_free)).astype(dtype)
    chosen = tuple(places[a] for a in (*axes.lhs_batch, *axes.lhs_contract))
    stored = data.shape[: n_batch + 1]
    rows = rhs.at[chosen].get(mode="fill", fill_value=0) if chosen else rhs
    free = tuple(rhs.shape[len(chosen) :])
    padding = (1,) * (len(stored) - (rows.ndim - len(free)))
    lead = rows.shape[: rows.ndim - len(free)]
    rows = dnp.reshape(rows, (*padding, *lead, *(1,) * n_dense, *free))
    product = dnp.reshape(data, (*data.shape, *(1,) * len(free))) * rows
    kept = [a for a in axes.lhs_free if a < n_batch + n_sparse]
    targets = tuple(places[a] for a in (*axes.lhs_batch, *kept))
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
    places = (*batch_places((*shape, *[B.shape[a] for a in axes.rhs_free])[:n_batch]),
              *columns(indices))  # fmt: skip
    b, f = len(axes.lhs_batch), len(axes.lhs_batch) + len(axes.lhs_free)
    lhs = _rows(A, (*axes.lhs_batch, *axes.lhs_free), axes.lhs_contract, places[:f])
    rhs = _rows(B, (*axes.rhs_batch, *axes.rhs_free), axes.rhs_contract, (*places[:b], *places[f:]))
    summed = tuple(range(-len(axes.lhs_contract), 0))
    return dnp.sum(lhs * rhs, axis=summed, dtype=dnp.result_type(A, B))


def _rows(x: Array, kept: Sequence[int], contracted: Sequence[int], places: Any) -> Array:
    x = dnp.transpose(x, (*kept, *contracted))
    return x.at[tuple(places)].get(mode="fill", fill_value=0) if places else x
