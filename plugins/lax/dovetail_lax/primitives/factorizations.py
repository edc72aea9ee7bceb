"""Primitives that factor matrices and solve with the factors: Cholesky, LU, QR, triangular solves.

Matrices are the last two axes; all axes before are batch axes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray

from ..errors import ElementTypeError, ShapeError
from ._elementwise import place
from .discrete import eq_p
from .moves import full, repeated, spread
from .reductions import reduce_sum_p
from .shape import dynamic_slice_p, dynamic_update_slice_p, reshape_p
from .traits import describe
from .values import iota_p, select_n_p

Shape = tuple[int, ...]
INDEX = np.dtype(np.int32)
_TYPES = ("float32", "float64", "complex64", "complex128")


def matrix_type(name: str, x: ShapedArray, square: bool = False) -> tuple[Shape, int, int]:
    """The batch shape and the size of matrices.

    Raises:
        TypeError: elements are not 32-bit or 64-bit floats or complex numbers of those.
        ValueError: there are fewer than two axes, or matrices are not square and must be.
    """
    if x.dtype.name not in _TYPES:
        raise ElementTypeError(
            f"lax.linalg.{name} does not accept {x.str_short()}{place()}: it takes "
            f"{', '.join(_TYPES)}. Convert the operand first (convert_element_type)."
        )
    if len(x.shape) < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square matrices" if square else "matrices"
        raise ShapeError(
            f"lax.linalg.{name} got {x.str_short()}{place()}: it takes {what}, with batch axes "
            "before the last two axes."
        )
    return x.shape[:-2], x.shape[-2], x.shape[-1]


cholesky_p = Primitive("cholesky")
"""``L`` with ``L Lᴴ`` the Hermitian matrix of which the operand's lower triangle is one half.

NaN where the matrix is not positive definite; the upper triangle of ``L`` is zero.
"""


@cholesky_p.def_abstract_eval
def _cholesky_type(x: ShapedArray) -> ShapedArray:
    matrix_type("cholesky", x, square=True)
    return x.strong()


triangular_solve_p = Primitive("triangular_solve")
"""``X`` with ``op(A) X = B`` (``left_side``) or ``X op(A) = B``, ``A`` triangular."""


@triangular_solve_p.def_abstract_eval
def _triangular_solve_type(
    a: ShapedArray,
    b: ShapedArray,
    *,
    left_side: bool,
    lower: bool,
    transpose_a: bool,
    conjugate_a: bool,
    unit_diagonal: bool,
) -> ShapedArray:
    batch, n, _ = matrix_type("triangular_solve", a, square=True)
    matrix_type("triangular_solve", b)
    if a.dtype != b.dtype:
        raise TypeError(
            f"lax.linalg.triangular_solve takes operands of one dtype, got {a.str_short()} and "
            f"{b.str_short()}{place()}. Convert one of them (convert_element_type)."
        )
    if b.shape[:-2] != batch or b.shape[-2 if left_side else -1] != n:
        side = "rows" if left_side else "columns"
        raise ShapeError(
            f"lax.linalg.triangular_solve got {a.str_short()} and {b.str_short()} with left_side="
            f"{left_side}{place()}: batch axes must be equal, and the second operand must have {n} "
            f"{side}."
        )
    return b.strong()


lu_p = Primitive("lu", multiple_results=True)
"""``L`` (below the diagonal, which is one) and ``U`` of ``P A = L U``; pivots; the permutation."""


@lu_p.def_abstract_eval
def _lu_type(x: ShapedArray) -> list[ShapedArray]:
    batch, m, n = matrix_type("lu", x)
    pivots = ShapedArray((*batch, min(m, n)), INDEX)
    return [x.strong(), pivots, ShapedArray((*batch, m), INDEX)]


lu_pivots_to_permutation_p = Primitive("lu_pivots_to_permutation")
"""The permutation of rows that swapping row ``i`` with row ``pivots[i]``, in turn, makes."""


@lu_pivots_to_permutation_p.def_abstract_eval
def _permutation_type(pivots: ShapedArray, *, permutation_size: int) -> ShapedArray:
    if pivots.dtype.kind not in "iu" or not pivots.shape or permutation_size < pivots.shape[-1]:
        raise ShapeError(
            f"lax.linalg.lu_pivots_to_permutation got {pivots.str_short()} and permutation_size="
            f"{permutation_size}{place()}: pivots are integers, at most as many as rows."
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), pivots.dtype)


@lu_pivots_to_permutation_p.def_decomposition
def _swaps(pivots: Any, *, permutation_size: int) -> Any:
    from ..functions.control_flow import fori_loop

    batch, count = pivots.shape[:-1], pivots.shape[-1]
    shape, last = (*batch, permutation_size), len(batch)
    places = iota_p.bind(dtype=pivots.dtype, shape=shape, dimension=last)
    if count == 0 or permutation_size == 0:
        return places
    if not batch:
        return fori_loop(np.int32(0), np.int32(count), partial(_swap_two, pivots), places)
    zero = full(shape, 0, pivots.dtype)

    def swap(i: Any, rows: Any) -> Any:
        starts, i = [_as(np.int32(0), i.dtype)] * last, _as(i, i.dtype)
        j = dynamic_slice_p.bind(pivots, *starts, i, slice_sizes=(*batch, 1))
        at_i = eq_p.bind(places, spread(_as(i, pivots.dtype), shape))
        at_j = eq_p.bind(places, spread(j, shape, tuple(range(last + 1))))
        x, y = [
            repeated(
                reduce_sum_p.bind(select_n_p.bind(at, zero, rows), axes=(last,)),
                permutation_size,
                last,
            )
            for at in (at_i, at_j)
        ]
        return select_n_p.bind(at_i, select_n_p.bind(at_j, rows, x), y)

    return fori_loop(np.int32(0), np.int32(count), swap, places)


def _swap_two(pivots: Any, i: Any, rows: Any) -> Any:
    """One permutation with two of its elements exchanged, whatever its length."""
    i = _as(i, rows.dtype)
    j = reshape_p.bind(dynamic_slice_p.bind(pivots, i, slice_sizes=(1,)), new_sizes=())
    x, y = [dynamic_slice_p.bind(rows, at, slice_sizes=(1,)) for at in (i, j)]
    return dynamic_update_slice_p.bind(dynamic_update_slice_p.bind(rows, y, i), x, j)


def _as(x: Any, dtype: Any) -> Any:
    from .values import convert_element_type_p

    return convert_element_type_p.bind(x, new_dtype=dtype, weak_type=False)


qr_p = Primitive("qr", multiple_results=True)
"""``Q`` and ``R`` of ``A = Q R``; with ``pivoting`` of ``A[:, p] = Q R``, and ``p``."""


@qr_p.def_abstract_eval
def _qr_type(x: ShapedArray, *, pivoting: bool, full_matrices: bool) -> list[ShapedArray]:
    batch, m, n = matrix_type("qr", x)
    k = m if full_matrices else min(m, n)
    result = [ShapedArray((*batch, m, k), x.dtype), ShapedArray((*batch, k, n), x.dtype)]
    return [*result, ShapedArray((*batch, n), INDEX)] if pivoting else result


geqrf_p = Primitive("geqrf", multiple_results=True)
"""``R``, below it the reflections whose product is ``Q``, and their factors (taus)."""


@geqrf_p.def_abstract_eval
def _geqrf_type(x: ShapedArray) -> list[ShapedArray]:
    batch, m, n = matrix_type("geqrf", x)
    return [x.strong(), ShapedArray((*batch, min(m, n)), x.dtype)]


householder_product_p = Primitive("householder_product")
"""The first columns of the product of the reflections that the operand's columns hold."""


@householder_product_p.def_abstract_eval
def _householder_product_type(a: ShapedArray, taus: ShapedArray) -> ShapedArray:
    batch, m, n = matrix_type("householder_product", a)
    k = taus.shape[-1] if taus.shape else -1
    if taus.dtype != a.dtype or taus.shape[:-1] != batch or not 0 <= k <= n <= m:
        raise ShapeError(
            f"lax.linalg.householder_product got {a.str_short()} and {taus.str_short()}{place()}: "
            "matrices have at least as many rows as columns and those at least as many as there "
            "are factors (taus), with one dtype and batch shape."
        )
    return a.strong()


describe(__name__)
