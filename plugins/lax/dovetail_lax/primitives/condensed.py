"""Primitives that reduce matrices to condensed forms, and that solve tridiagonal equations.

Hessenberg, tridiagonal and Schur form by unitary transformations, which are kept as reflections;
products with these.
"""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive, ShapedArray, here

from ..dtypes import finfo
from ..errors import ShapeError
from ..scalars import scalar
from .arithmetic import abs_p, div_p, max_p, mul_p, sub_p
from .decompositions import def_typed_decomposition
from .discrete import eq_p, gt_p, lt_p
from .factorizations import INDEX, householder_product_p, matrix_type
from .moves import along, full, moved, repeated, reversed_along, spread, transposed
from .reductions import reduce_max_p
from .traits import describe
from .values import conj_p, convert_element_type_p, iota_p, real_part, select_n_p

hessenberg_p = Primitive("hessenberg", multiple_results=True)
"""``H`` of ``A = Q H Qᴴ`` on and above the first subdiagonal; below it and in the second result the
reflections that make ``Q``."""


@hessenberg_p.def_abstract_eval
def _hessenberg_type(x: ShapedArray) -> list[ShapedArray]:
    batch, n, _ = matrix_type("hessenberg", x, square=True)
    return [x.strong(), ShapedArray((*batch, max(n - 1, 0)), x.dtype)]


tridiagonal_p = Primitive("tridiagonal", multiple_results=True)
"""Hermitian matrices, of which one triangle is read, as real tridiagonal ones: with reflections
outside the three diagonals, the diagonal, the one beside it, and the reflections' factors."""


@tridiagonal_p.def_abstract_eval
def _tridiagonal_type(x: ShapedArray, *, lower: bool) -> list[ShapedArray]:
    batch, n, _ = matrix_type("tridiagonal", x, square=True)
    if n == 0:
        raise ShapeError(
            f"lax.linalg.tridiagonal got {x.str_short()}{here()}: it takes matrices of at least "
            "one row."
        )
    real, beside = real_part(x.dtype), (*batch, n - 1)
    return [
        x.strong(),
        ShapedArray((*batch, n), real),
        ShapedArray(beside, real),
        ShapedArray(beside, x.dtype),
    ]


schur_p = Primitive("schur", multiple_results=True)
"""``T`` of ``A = Z T Zᴴ``, upper triangular but for blocks of two rows that real matrices have for
conjugate eigenvalues; with ``compute_schur_vectors`` also ``Z``."""


@schur_p.def_abstract_eval
def _schur_type(x: ShapedArray, *, compute_schur_vectors: bool) -> list[ShapedArray]:
    matrix_type("schur", x, square=True)
    return [x.strong()] * (1 + compute_schur_vectors)


ormqr_p = Primitive("ormqr")
"""``Q C``, ``Qᴴ C``, ``C Q`` or ``C Qᴴ`` where ``Q`` is the product of reflections."""


@ormqr_p.def_abstract_eval
def _ormqr_type(
    a: ShapedArray, taus: ShapedArray, c: ShapedArray, *, left: bool, transpose: bool
) -> ShapedArray:
    batch, m, n = matrix_type("ormqr", a)
    matrix_type("ormqr", c)
    k = taus.shape[-1] if taus.shape else -1
    fits = (
        taus.shape[:-1] == c.shape[:-2] == batch
        and 0 <= k <= min(m, n)
        and c.shape[-2 if left else -1] == m
        and a.dtype == taus.dtype == c.dtype
    )
    if not fits:
        raise ShapeError(
            f"lax.linalg.ormqr got {a.str_short()}, {taus.str_short()} and {c.str_short()} with "
            f"left={left}{here()}: dtypes and batch axes must be equal, factors (taus) at most as "
            f"many as the reflections that the first operand holds, and the matrix must have {m} "
            f"{'rows' if left else 'columns'}."
        )
    return c.strong()


@def_typed_decomposition(ormqr_p)
def _reflected(a: Any, taus: Any, c: Any, *, left: bool, transpose: bool) -> Any:
    from ..functions.control_flow import scan
    from ..numerics.matrices import adjoint, matmul

    count = taus.shape[-1]
    if count == 0 or 0 in c.shape:
        return c
    # Reflections 1 - tau v vᴴ: Qᴴ is the product of their adjoints in opposite order.
    vectors, factors = _vectors(a, count), transposed(taus, _last_first(len(taus.shape)))
    if transpose and a.dtype.kind == "c":
        factors = conj_p.bind(factors)
    if left != transpose:  # the last one is applied to C first
        vectors, factors = (reversed_along(x, (0,)) for x in (vectors, factors))

    def reflect(x: Any, one: tuple[Any, Any]) -> tuple[Any, None]:
        v, tau = one
        column = repeated(v, 1, len(v.shape))
        if left:
            change = matmul(column, matmul(adjoint(column), x))
        else:
            change = matmul(matmul(x, column), adjoint(column))
        weights = spread(tau, change.shape, tuple(range(len(tau.shape))))
        return sub_p.bind(x, mul_p.bind(weights, change)), None

    return scan(reflect, c, (vectors, factors))[0]


def _last_first(ndim: int) -> tuple[int, ...]:
    return (ndim - 1, *range(ndim - 1))


def _vectors(a: Any, count: int) -> Any:
    """The reflections' vectors, one after the other: one on the diagonal, zero above it."""
    a = along(a, len(a.shape) - 1, 0, count)
    n = len(a.shape)
    rows, columns = (iota_p.bind(dtype=INDEX, shape=a.shape, dimension=i) for i in (n - 2, n - 1))
    low = select_n_p.bind(gt_p.bind(rows, columns), scalar(0, a.dtype), a)
    x = select_n_p.bind(eq_p.bind(rows, columns), low, scalar(1, a.dtype))
    return transposed(x, _last_first(n))


@def_typed_decomposition(householder_product_p)
def _product(a: Any, taus: Any) -> Any:
    from ..numerics.matrices import identity

    return ormqr_p.bind(a, taus, identity(a.shape, a.dtype), left=True, transpose=False)


tridiagonal_solve_p = Primitive("tridiagonal_solve")
"""``X`` with ``A X = B`` for tridiagonal ``A``, given as three diagonals of equal length.

``A[i, i - 1]`` is element ``i`` of the first, ``A[i, i + 1]`` of the third; what lies outside of
the matrix is not read.
"""


@tridiagonal_solve_p.def_abstract_eval
def _tridiagonal_solve_type(
    dl: ShapedArray, d: ShapedArray, du: ShapedArray, b: ShapedArray, *, perturb_singular: bool
) -> ShapedArray:
    batch, m, _ = matrix_type("tridiagonal_solve", b)
    shown = ", ".join(x.str_short() for x in (dl, d, du, b))
    if any(x.dtype != b.dtype for x in (dl, d, du)):
        raise TypeError(
            f"lax.linalg.tridiagonal_solve takes operands of one dtype, got {shown}{here()}. "
            "Convert them (convert_element_type)."
        )
    if any(x.shape != (*batch, m) for x in (dl, d, du)):
        raise ShapeError(
            f"lax.linalg.tridiagonal_solve got {shown}{here()}: the three diagonals must have one "
            "shape, and the last operand that shape and an axis of right sides. Pad the outer "
            "diagonals with a zero, the lower one at its begin, the upper one at its end."
        )
    return b.strong()


@def_typed_decomposition(tridiagonal_solve_p)
def _eliminated(dl: Any, d: Any, du: Any, b: Any, *, perturb_singular: bool) -> Any:
    """Elimination without exchanges of rows, which is exact where the diagonal dominates."""
    from ..functions.control_flow import scan

    if 0 in b.shape:
        return b
    axis = len(b.shape) - 2
    least = _least_pivot(dl, d, du) if perturb_singular else None
    rows = (*(moved(x, axis, 0) for x in (dl, d, du)), moved(b, axis, 0))
    zeros = full(rows[1].shape[1:], 0, b.dtype), full(rows[3].shape[1:], 0, b.dtype)

    def forward(last: tuple[Any, Any], row: tuple[Any, ...]) -> tuple[Any, Any]:
        ratio, y = last
        low, middle, high, right = row
        pivot = sub_p.bind(middle, mul_p.bind(low, ratio))
        if least is not None:
            pivot = select_n_p.bind(lt_p.bind(abs_p.bind(pivot), least), pivot, _as(least, pivot))
        rest = sub_p.bind(right, mul_p.bind(_wide(low, y), y))
        result = div_p.bind(high, pivot), div_p.bind(rest, _wide(pivot, rest))
        return result, result

    def backward(x: Any, row: tuple[Any, Any]) -> tuple[Any, Any]:
        ratio, y = row
        x = sub_p.bind(y, mul_p.bind(_wide(ratio, x), x))
        return x, x

    reduced = scan(forward, zeros, rows)[1]
    return moved(scan(backward, zeros[1], reduced, reverse=True)[1], 0, axis)


def _least_pivot(*diagonals: Any) -> Any:
    """The least magnitude of pivots: the rounding of the largest element."""
    dtype = real_part(diagonals[0].dtype)
    axes = (len(diagonals[0].shape) - 1,)
    sizes = [reduce_max_p.bind(abs_p.bind(x), axes=axes) for x in diagonals]
    largest = max_p.bind(max_p.bind(*sizes[:2]), sizes[2])
    info = finfo(dtype)
    least = mul_p.bind(largest, scalar(float(info.eps), dtype))
    return max_p.bind(least, scalar(float(info.tiny), dtype))


def _as(x: Any, like: Any) -> Any:
    if x.dtype == like.dtype:
        return x
    return convert_element_type_p.bind(x, new_dtype=like.dtype, weak_type=False)


def _wide(x: Any, y: Any) -> Any:
    return spread(x, y.shape, tuple(range(len(x.shape))))


describe(__name__)
