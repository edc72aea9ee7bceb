"""Public functions that factor matrices, solve with the factors, and update them."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.foreign import reword_errors

from ..dtypes import finfo, kind_of
from ..functions.operands import Array, ArrayLike, check
from ..functions.values import convert_element_type
from ..numerics.matrices import adjoint, lower, matmul, transposed_matrix, upper
from ..primitives.arithmetic import add_p, div_p
from ..primitives.discrete import lt_p
from ..primitives.factorizations import (
    INDEX,
    cholesky_p,
    cholesky_update_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    matrix_type,
    qr_p,
    symmetric_product_p,
    triangular_solve_p,
)
from ..primitives.moves import reshaped, spread
from ..primitives.polar import qdwh_p
from ..primitives.values import convert_element_type_p, iota_p, select_n_p
from ..scalars import scalar


def cholesky(x: ArrayLike, *, symmetrize_input: bool = True) -> Array:
    """The lower triangular ``L`` with ``L Lᴴ = x`` for Hermitian positive definite matrices.

    Args:
        x: matrices of shape ``(..., n, n)``, of 32-bit or 64-bit floats or complex numbers;
            integers and booleans become floats.
        symmetrize_input: factor ``(x + xᴴ) / 2``; otherwise only the lower triangle is read.

    Returns: matrices of the same shape; of NaN where ``x`` is not positive definite.

    Raises:
        TypeError: the element type is another.
        ValueError: ``x`` is no batch of square matrices.
    """
    x = inexact("cholesky", x)
    matrix_type("cholesky", check("cholesky", x), square=True)
    return cholesky_p.bind(symmetrized(x) if symmetrize_input else x)


def inexact(name: str, x: ArrayLike) -> Any:
    """``x``, integers and booleans as floating-point numbers."""
    dtype: Any = check(name, x).dtype
    if kind_of(dtype) not in ("bool", "signed", "unsigned"):
        return x
    return convert_element_type(x, np.float64 if dtype.itemsize == 8 else np.float32)


def symmetrized(x: Any) -> Any:
    """The mean of each matrix and its conjugate transpose."""
    return div_p.bind(add_p.bind(x, adjoint(x)), scalar(2.0, x.dtype))


def triangular_solve(
    a: ArrayLike,
    b: ArrayLike,
    *,
    left_side: bool = False,
    lower: bool = False,
    transpose_a: bool = False,
    conjugate_a: bool = False,
    unit_diagonal: bool = False,
) -> Array:
    """``X`` with ``op(a) X = b`` if ``left_side``, else with ``X op(a) = b``.

    Args:
        a: triangular matrices ``(..., m, m)``; the other triangle is not read.
        b: matrices ``(..., m, n)`` if ``left_side``, else ``(..., n, m)``; or vectors ``(..., m)``.
        transpose_a: ``op`` transposes. conjugate_a: ``op`` conjugates.
        unit_diagonal: the diagonal of ``a`` is ones and is not read.

    Raises:
        TypeError: element types differ or are not floats or complex numbers.
        ValueError: shapes do not fit.
    """
    shape_a, given = check("triangular_solve", a).shape, check("triangular_solve", b).shape
    vector = len(given) == len(shape_a) - 1
    if vector:
        b = reshaped(b, (*given, 1) if left_side else (*given[:-1], 1, given[-1]))
    out = triangular_solve_p.bind(
        a,
        b,
        left_side=left_side,
        lower=lower,
        transpose_a=transpose_a,
        conjugate_a=conjugate_a,
        unit_diagonal=unit_diagonal,
    )
    return reshaped(out, given) if vector else out


def lu(x: ArrayLike) -> list[Array]:
    """``P x = L U`` with partial pivoting.

    Returns: ``(lu, pivots, permutation)``: ``L`` without its diagonal of ones below and ``U`` on
        and above the diagonal of ``lu``; which rows were swapped with the first, second, ...;
        the rows of ``x`` in the order of ``P x``.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices.
    """
    factors, pivots, permutation = lu_p.bind(x)
    return [factors, pivots, permutation]


@reword_errors
def lu_pivots_to_permutation(pivots: ArrayLike, permutation_size: int) -> Array:
    """The permutation of ``permutation_size`` rows that the row swaps ``pivots`` make.

    Raises:
        ValueError: ``pivots`` are no integers, or more than rows.
    """
    size = arguments.integer("permutation_size", permutation_size)
    return lu_pivots_to_permutation_p.bind(pivots, permutation_size=size)


def qr(
    x: ArrayLike,
    *,
    pivoting: bool = False,
    full_matrices: bool = True,
    use_magma: bool | None = None,
) -> tuple[Array, ...]:
    """``x = Q R`` with ``Q`` unitary and ``R`` upper triangular.

    Args:
        pivoting: also return the order of columns ``p`` with ``x[:, p] = Q R`` and the diagonal of
            ``R`` not increasing in magnitude.
        full_matrices: ``Q`` is square; otherwise it has ``min(m, n)`` columns.
        use_magma: accepted for compatibility; it chooses a library for GPUs.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices.
    """
    return tuple(qr_p.bind(x, pivoting=bool(pivoting), full_matrices=bool(full_matrices)))


@reword_errors
def geqrf(x: ArrayLike) -> tuple[Array, Array]:
    """The QR factorization as LAPACK leaves it: see :func:`householder_product`.

    Returns:
        An array of the shape of ``x`` with ``R`` on and above its diagonal and below it the
        reflections whose product is ``Q``; and their factors.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices.
    """
    return tuple(geqrf_p.bind(x))


@reword_errors
def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The unitary matrix whose reflections are the columns of ``a`` with factors ``taus``.

    Raises:
        ValueError: shapes or element types do not fit.
    """
    return householder_product_p.bind(a, taus)


@reword_errors
def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition ``x = U H``: orthonormal columns, and a positive semidefinite matrix.

    By Halley's iteration with dynamic weights. ``U`` and ``H`` have derivatives.

    Args:
        x: matrices of full rank of shape ``(..., m, n)`` with ``m >= n``.
        is_hermitian: accepted for compatibility.
        max_iterations: after how many iterations to end at the latest; 10 by default.
        eps: iterations end when one changes ``U`` by less than ``(4 eps)^(1/3)`` of it; by default
            the precision of the element type.
        dynamic_shape: ``(rows, columns)`` of the part of ``x`` that counts, perhaps traced; the
            rest counts as zero.

    Returns: ``(U, H, iterations, converged)``, the last one a boolean for each matrix.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices, or these have more columns than rows.
    """
    aval = check("linalg.qdwh", x)
    matrix_type("qdwh", aval)
    most = 10 if max_iterations is None else arguments.integer("max_iterations", max_iterations)
    precision = float(finfo(aval.dtype).eps) if eps is None else float(eps)
    if dynamic_shape is not None:
        x = _leading_part(x, dynamic_shape)
    u, count, converged = qdwh_p.bind(x, max_iterations=most, eps=precision)
    return u, symmetrized(matmul(adjoint(u), x)), count, converged


def _leading_part(x: Any, sizes: tuple[Any, Any]) -> Any:
    """The matrices, zero in rows and columns beyond."""
    for axis, size in zip((-2, -1), sizes):
        positions = iota_p.bind(dtype=INDEX, shape=x.shape, dimension=len(x.shape) + axis)
        size = convert_element_type_p.bind(size, new_dtype=INDEX, weak_type=False)
        inside = lt_p.bind(positions, spread(size, x.shape))
        x = select_n_p.bind(inside, scalar(0, x.dtype), x)
    return x


@reword_errors
def cholesky_update(r_matrix: ArrayLike, w_vector: ArrayLike) -> Array:
    """The upper triangular ``S`` with ``Sᵀ S = Rᵀ R + w wᵀ``, in ``O(n²)`` operations.

    Args:
        r_matrix: upper triangular real matrices ``R`` of shape ``(..., n, n)``; the lower triangle
            is not read.
        w_vector: vectors of shape ``(..., n)``.

    Returns: matrices whose diagonals are not negative.

    Raises:
        TypeError: the element type is not a float of 32 or 64 bits.
        ValueError: shapes or element types do not fit.
    """
    return cholesky_update_p.bind(r_matrix, w_vector)


@reword_errors
def symmetric_product(
    a_matrix: ArrayLike,
    c_matrix: ArrayLike,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    symmetrize_output: bool = False,
) -> Array:
    """``alpha a aᵀ + beta c``.

    Args:
        a_matrix: matrices of shape ``(..., m, n)``.
        c_matrix: symmetric matrices of shape ``(..., m, m)``.
        symmetrize_output: mirror the lower triangle, so that the result is exactly symmetric.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: shapes or element types do not fit.
    """
    for x in (a_matrix, c_matrix):
        check("linalg.symmetric_product", x)
    out = symmetric_product_p.bind(a_matrix, c_matrix, alpha=float(alpha), beta=float(beta))
    if symmetrize_output:
        return add_p.bind(lower(out), upper(transposed_matrix(out), 1))
    return out
