"""Equations of two triangular matrices, column by column; for functions of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp

from .arguments import identity_like, matmul


def by_columns(right_side: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The matrix whose columns are made one after the other.

    Args:
        right_side: ``right_side(x, j, unit)`` is the triangular matrix and the right sides whose
            solution is column ``j``; ``x`` has the columns before, and ``unit`` a one at ``j``.
    """
    n = shape[-1]

    def column(x: Any, j: Any) -> tuple[Any, None]:
        unit = dnp.astype(dnp.arange(n, dtype=np.int32) == j, dtype)[:, None]
        matrix, right = right_side(x, j, unit)
        result = lax.linalg.triangular_solve(matrix, right, left_side=True, lower=False)
        return x + matmul(result, dnp.matrix_transpose(unit)), None

    start = dnp.zeros(shape, dtype)
    return lax.scan(column, start, np.arange(n, dtype=np.int32))[0]


def shifted(r: Any, by: Any, until: Any = None) -> Any:
    """``R + by`` on the diagonal; of rows and columns from ``until`` on the identity.

    Zeros on the diagonal become ones: then the equation has no unique solution.
    """
    eye = identity_like(r)
    x = r + by[..., None, None] * eye
    if until is not None:
        inside = dnp.arange(r.shape[-1], dtype=np.int32) < until
        x = dnp.where(inside[:, None] & inside[None, :], x, eye)
    return dnp.where((x == 0) & (eye == 1), 1, x)


def sylvester(r: Any, s: Any, f: Any) -> Any:
    """``Y`` with ``R Y + Y S = F`` for upper triangular ``R`` and ``S``.

    Of column ``j``: ``(R + s_jj) y_j = f_j - Σ s_kj y_k``, with the columns ``k`` before.
    """

    def equation(y: Any, j: Any, unit: Any) -> tuple[Any, Any]:
        own = matmul(s, unit)
        pivot = matmul(dnp.matrix_transpose(unit), own)[..., 0, 0]
        return r + pivot[..., None, None] * identity_like(r), matmul(f, unit) - matmul(y, own)

    return by_columns(equation, f.shape, f.dtype)
