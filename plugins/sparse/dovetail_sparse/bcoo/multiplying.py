"""Products, element by element, of an array in BCOO format with a dense one."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from .axes import every_place
from .pairs import broadcast_shapes
from .stored import Stored

Array = Any


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
    places = every_place(mat)
    chosen = tuple(places[a] for a in kept)
    gone = tuple(a for a in range(n_batch + n_sparse) if a not in kept)
    v = dnp.squeeze(v, gone)
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
    whole = (*sp_mat.batch_shape, sp_mat.nse, *sp_mat.dense_shape)
    return data if not dnp.ndim(v) else dnp.broadcast_to(data, _at_least(data.shape, whole))


def _at_least(result: tuple[int, ...], whole: tuple[int, ...]) -> tuple[int, ...]:
    return whole[: len(whole) - len(result)] + tuple(result)
