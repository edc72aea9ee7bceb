"""Data and indices of arrays made from nothing: empty ones, ones on a diagonal, SciPy's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import here

from .layout import check_counts

Array = Any


def empty_parts(
    shape: Sequence[int], dtype: Any, index_dtype: Any, n_dense: int, n_batch: int, nse: int
) -> tuple[Array, Array]:
    """Padding only."""
    shape = tuple(map(int, shape))
    check_counts(n_batch, n_dense, shape)
    batch, dense = shape[:n_batch], shape[len(shape) - n_dense :]
    sparse = shape[n_batch : len(shape) - n_dense]
    data = dnp.zeros((*batch, nse, *dense), dtype)
    beyond = dnp.asarray(sparse, index_dtype)
    return data, dnp.broadcast_to(beyond, (*batch, nse, len(sparse)))


def eye_parts(
    rows: int, cols: int, k: int, dtype: Any, index_dtype: Any, n_batch: int, n_dense: int
) -> tuple[Array, Array]:
    """Ones on the diagonal ``k`` of a matrix."""
    check_counts(n_batch, n_dense, (rows, cols))
    row = np.arange(rows)
    col = row + k
    inside = (col >= 0) & (col < cols)
    if n_batch + n_dense == 0:
        places = np.stack([row[inside], col[inside]], axis=-1)
        return dnp.ones(len(places), dtype), dnp.asarray(places, index_dtype)
    matrix = np.eye(rows, cols, k)
    if (n_batch, n_dense) == (1, 0):
        data, places = inside[:, None], np.where(inside, col, cols)[:, None, None]
    elif (n_batch, n_dense) == (0, 1):
        data, places = matrix[inside], row[inside][:, None]
    elif (n_batch, n_dense) == (1, 1):
        data, places = matrix[:, None], np.zeros((rows, 1, 0))
    elif n_batch == 2:
        data, places = matrix[:, :, None], np.zeros((rows, cols, 1, 0))
    else:
        data, places = matrix[None], np.zeros((1, 0))
    wanted = dnp.zeros((), dtype).dtype
    return dnp.asarray(data, wanted), dnp.asarray(places, index_dtype)


def scipy_parts(mat: Any, index_dtype: Any, n_dense: int, n_batch: int) -> tuple[Array, Array]:
    """Those of a sparse matrix of SciPy."""
    if n_dense or n_batch:
        raise NotImplementedError(f"BCOO.fromscipy with nonzero n_dense/n_batch{here()}")
    result = mat.tocoo()
    places = np.stack([result.row, result.col], axis=-1)
    return dnp.asarray(result.data), dnp.asarray(places).astype(index_dtype or dnp.int32)
