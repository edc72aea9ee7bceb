"""Primitives that factor matrices, solve with the factors, and update them.

Cholesky, LU, QR; triangular solves; updates of Cholesky factors. Matrices are
the last two axes; all axes before are batch axes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray, here

from ..errors import ElementTypeError, ShapeError
from ..scalars import scalar
from .arithmetic import abs_p, add_p, div_p, max_p, mul_p, sqrt_p, sub_p
from .decompositions import def_typed_decomposition
from .discrete import eq_p
from .moves import full, repeated, spread, transposed
from .reductions import reduce_sum_p
from .shape import dynamic_slice_p, dynamic_update_slice_p, reshape_p
from .traits import describe
from .values import convert_element_type_p, iota_p, select_n_p

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
            f"lax.linalg.{name} does not accept {x.str_short()}{here()}: it takes "
            f"{', '.join(_TYPES)}. Convert the operand first (convert_element_type)."
        )
    if len(x.shape) < 2 or (square and x.shape[-1] != x.shape[-2]):
        what = "square matrices" if square else "matrices"
        raise ShapeError(
            f"lax.linalg.{name} got {x.str_short()}{here()}: it takes {what}, with batch axes "
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
            f"{b.str_short()}{here()}. Convert one of them (convert_element_type)."
        )
    if b.shape[:-2] != batch or b.shape[-2 if left_side else -1] != n:
        side = "rows" if left_side else "columns"
        raise ShapeError(
            f"lax.linalg.triangular_solve got {a.str_short()} and {b.str_short()} with left_side="
            f"{left_side}{here()}: batch axes must be equal, and the second operand must have {n} "
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
            f"{permutation_size}{here()}: pivots are integers, at most as many as rows."
        )
    return ShapedArray((*pivots.shape[:-1], permutation_size), pivots.dtype)


@lu_pivots_to_permutation_p.def_decomposition
def _swaps(pivots: Any, *, permutation_size: int) -> Any:
    from ..functions.control_flow import fori_loop

    batch, count = pivots.shape[:-1], pivots.shape[-1]
    shape, last = (*batch, permutation_size), len(batch)
    positions = iota_p.bind(dtype=pivots.dtype, shape=shape, dimension=last)
    if count == 0 or permutation_size == 0:
        return positions
    if not batch:
        return fori_loop(np.int32(0), np.int32(count), partial(_swap_two, pivots), positions)
    zero = full(shape, 0, pivots.dtype)

    def swap(i: Any, rows: Any) -> Any:
        starts, i = [_as(np.int32(0), i.dtype)] * last, _as(i, i.dtype)
        j = dynamic_slice_p.bind(pivots, *starts, i, slice_sizes=(*batch, 1))
        at_i = eq_p.bind(positions, spread(_as(i, pivots.dtype), shape))
        at_j = eq_p.bind(positions, spread(j, shape, tuple(range(last + 1))))
        x, y = [
            repeated(
                reduce_sum_p.bind(select_n_p.bind(at, zero, rows), axes=(last,)),
                permutation_size,
                last,
            )
            for at in (at_i, at_j)
        ]
        return select_n_p.bind(at_i, select_n_p.bind(at_j, rows, x), y)

    return fori_loop(np.int32(0), np.int32(count), swap, positions)


def _swap_two(pivots: Any, i: Any, rows: Any) -> Any:
    """One permutation with two of its elements exchanged, for any length."""
    i = _as(i, rows.dtype)
    j = reshape_p.bind(dynamic_slice_p.bind(pivots, i, slice_sizes=(1,)), new_sizes=())
    x, y = [dynamic_slice_p.bind(rows, at, slice_sizes=(1,)) for at in (i, j)]
    return dynamic_update_slice_p.bind(dynamic_update_slice_p.bind(rows, y, i), x, j)


def _as(x: Any, dtype: Any) -> Any:

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
            f"lax.linalg.householder_product got {a.str_short()} and {taus.str_short()}{here()}: "
            "matrices have at least as many rows as columns and those at least as many as there "
            "are factors (taus), with one dtype and batch shape."
        )
    return a.strong()


cholesky_update_p = Primitive("cholesky_update")
"""The upper triangular ``S`` with ``Sᵀ S = Rᵀ R + w wᵀ``."""


@cholesky_update_p.def_abstract_eval
def _update_type(r: ShapedArray, w: ShapedArray) -> ShapedArray:
    batch, n, _ = matrix_type("cholesky_update", r, square=True)
    if r.dtype.kind == "c":
        raise TypeError(
            f"lax.linalg.cholesky_update does not accept {r.str_short()}{here()}: it takes real "
            "matrices. Factor the complex matrix again (cholesky)."
        )
    if w.dtype != r.dtype or w.shape != (*batch, n):
        raise ShapeError(
            f"lax.linalg.cholesky_update got {r.str_short()} and {w.str_short()}{here()}: it "
            f"takes a vector of {n} elements of the matrix's dtype for each matrix."
        )
    return r.strong()


@def_typed_decomposition(cholesky_update_p)
def _rotations(r: Any, w: Any) -> Any:
    from ..functions.control_flow import scan
    from ..numerics.matrices import upper

    n = r.shape[-1]
    if 0 in r.shape:
        return r
    ndim, batch = len(r.shape), tuple(range(len(r.shape) - 2))
    rows = transposed(upper(r), (ndim - 2, *batch, ndim - 1))

    def rotate(w: Any, given: tuple[Any, Any]) -> tuple[Any, Any]:
        # Rotates the row and w, so that w becomes zero at the index of the row's first element.
        row, k = given
        positions = iota_p.bind(dtype=k.dtype, shape=row.shape, dimension=len(batch))
        here = eq_p.bind(positions, spread(k, row.shape))
        first, top = (
            repeated(
                reduce_sum_p.bind(
                    select_n_p.bind(here, scalar(0.0, x.dtype), x), axes=(len(batch),)
                ),
                n,
                len(batch),
            )
            for x in (row, w)
        )
        cos, sin = _rotation(first, top)
        turned = add_p.bind(mul_p.bind(cos, row), mul_p.bind(sin, w))
        return sub_p.bind(mul_p.bind(cos, w), mul_p.bind(sin, row)), turned

    steps = iota_p.bind(dtype=INDEX, shape=(n,), dimension=0)
    out = scan(rotate, w, (rows, steps))[1]
    return upper(transposed(out, (*(i + 1 for i in batch), 0, ndim - 1)))


def _rotation(x: Any, y: Any) -> tuple[Any, Any]:
    """Cosine and sine of the rotation that makes ``(x, y)`` the vector of its length."""
    zero, one = scalar(0.0, x.dtype), scalar(1.0, x.dtype)
    size = max_p.bind(abs_p.bind(x), abs_p.bind(y))
    none = eq_p.bind(size, zero)
    size = select_n_p.bind(none, size, one)
    x, y = div_p.bind(x, size), div_p.bind(y, size)
    length = sqrt_p.bind(add_p.bind(mul_p.bind(x, x), mul_p.bind(y, y)))
    length = select_n_p.bind(none, length, one)
    return select_n_p.bind(none, div_p.bind(x, length), one), div_p.bind(y, length)


symmetric_product_p = Primitive("symmetric_product")
"""``alpha A Aᵀ + beta C``."""


@symmetric_product_p.def_abstract_eval
def _product_type(a: ShapedArray, c: ShapedArray, *, alpha: float, beta: float) -> ShapedArray:
    batch, m, _ = matrix_type("symmetric_product", a)
    if c.dtype != a.dtype or c.shape != (*batch, m, m):
        raise ShapeError(
            f"lax.linalg.symmetric_product got {a.str_short()} and {c.str_short()}{here()}: the "
            f"second operand must be matrices of {m} rows and columns, of the first one's dtype."
        )
    return c.strong()


@def_typed_decomposition(symmetric_product_p)
def _square(a: Any, c: Any, *, alpha: float, beta: float) -> Any:
    from ..numerics.matrices import matmul, transposed_matrix

    square = mul_p.bind(matmul(a, transposed_matrix(a)), scalar(alpha, a.dtype))
    return square if beta == 0 else add_p.bind(square, mul_p.bind(c, scalar(beta, c.dtype)))


describe(__name__)
