"""Public functions that factor matrices and solve with the factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_base import arguments
from dovetail_base.foreign import names_itself

from ..dtypes import kind_of
from ..functions._args import Array, ArrayLike, check
from ..functions.values import convert_element_type
from ..numerics.matrices import adjoint
from ..primitives.arithmetic import add_p, div_p
from ..primitives.factorizations import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    matrix_type,
    qr_p,
    triangular_solve_p,
)
from ..primitives.moves import reshaped
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


@names_itself
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


@names_itself
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


@names_itself
def householder_product(a: ArrayLike, taus: ArrayLike) -> Array:
    """The unitary matrix whose reflections are the columns of ``a`` with factors ``taus``.

    Raises:
        ValueError: shapes or element types do not fit.
    """
    return householder_product_p.bind(a, taus)
