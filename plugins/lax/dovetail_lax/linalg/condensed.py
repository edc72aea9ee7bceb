"""Public functions of condensed forms of matrices, their reflections, and tridiagonal equations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..functions.operands import Array, ArrayLike, check
from ..primitives.condensed import (
    hessenberg_p,
    ormqr_p,
    schur_p,
    tridiagonal_p,
    tridiagonal_solve_p,
)


@reword_errors
def hessenberg(a: ArrayLike) -> list[Array]:
    """Matrices in upper Hessenberg form: ``a = Q H Qᴴ`` with zeros below ``H``'s first subdiagonal.

    It has no derivative. It runs on the CPU.

    Args:
        a: matrices of shape ``(..., n, n)``, of 32-bit or 64-bit floats or complex numbers.

    Returns: ``(h, taus)``: ``H`` on and above the first subdiagonal, below it the
        reflections whose product is ``Q``, and their ``n - 1`` factors: see :func:`ormqr` and
        :func:`householder_product`, which take ``h[..., 1:, :-1]``, for rows and columns from the
        second on. NaN where it failed.

    Raises:
        TypeError: the element type is another.
        ValueError: ``a`` is no batch of square matrices.
    """
    result, taus = hessenberg_p.bind(a)
    return [result, taus]


@reword_errors
def tridiagonal(a: ArrayLike, *, lower: bool = True) -> list[Array]:
    """Hermitian matrices in real tridiagonal form, ``a = Q T Qᴴ``.

    It has no derivative. It runs on the CPU.

    Args:
        a: matrices of shape ``(..., n, n)``, ``n > 0``.
        lower: which triangle is read.

    Returns: ``(out, d, e, taus)``: ``d`` is the diagonal of ``T`` and ``e`` the one beside it,
        which ``out`` has there, too; on the far side of these the reflections whose product
        is ``Q``, and ``taus`` their ``n - 1`` factors. NaN where it failed.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``a`` is no batch of square matrices, or these have no rows.
    """
    result, d, e, taus = tridiagonal_p.bind(a, lower=bool(lower))
    return [result, d, e, taus]


@reword_errors
def schur(
    x: ArrayLike,
    *,
    compute_schur_vectors: bool = True,
    sort_eig_vals: bool = False,
    select_callable: Callable[..., Any] | None = None,
) -> list[Array]:
    """The Schur decomposition ``x = Z T Zᴴ`` with unitary ``Z``.

    ``T`` is upper triangular and has the eigenvalues on its diagonal. Of real matrices it is real:
    it has a block of two rows and columns on its diagonal for each pair of conjugate eigenvalues.
    Of complex matrices whose eigenvalues differ both have derivatives, up to the phases of the
    columns of ``Z``; of real ones they have none. It runs on the CPU.

    Args:
        x: matrices of shape ``(..., n, n)``.
        compute_schur_vectors: whether ``Z`` is wanted.
        sort_eig_vals, select_callable: an order of the eigenvalues, which is not offered.

    Returns: ``(T, Z)``, or ``(T,)``. NaN where the iteration did not converge.

    Raises:
        NotImplementedError: an order of the eigenvalues is wanted.
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of square matrices.
    """
    if sort_eig_vals or select_callable is not None:
        raise NotImplementedError(
            "lax.linalg.schur does not sort eigenvalues (sort_eig_vals, select_callable)"
            f"{here()}. Leave these arguments out."
        )
    return list(schur_p.bind(x, compute_schur_vectors=bool(compute_schur_vectors)))


@reword_errors
def ormqr(
    a: ArrayLike, taus: ArrayLike, c: ArrayLike, *, left: bool = True, transpose: bool = False
) -> Array:
    """The product of a matrix and a unitary ``Q`` that is given by its reflections.

    Args:
        a: matrices ``(..., m, n)`` whose columns, below the diagonal, are the reflections.
        taus: their factors ``(..., k)``, with ``k`` at most ``min(m, n)``.
        c: matrices of shape ``(..., m, p)`` if ``left``, else ``(..., p, m)``.
        left: ``Q c``; otherwise ``c Q``.
        transpose: with ``Qᴴ`` in position of ``Q``.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: shapes or element types do not fit.
    """
    for x in (a, taus, c):
        check("linalg.ormqr", x)
    return ormqr_p.bind(a, taus, c, left=bool(left), transpose=bool(transpose))


@reword_errors
def tridiagonal_solve(
    dl: ArrayLike, d: ArrayLike, du: ArrayLike, b: ArrayLike, *, perturb_singular: bool = False
) -> Array:
    """``X`` with ``A X = b`` for tridiagonal matrices ``A``, by elimination.

    On the CPU rows are exchanged for the sake of accuracy; on other platforms not, so that ``A``
    should be positive definite or its diagonal dominant there.

    Args:
        dl: vectors ``(..., m)``, the lower diagonals: element ``i`` is ``A[i, i - 1]``, and the
            first one is not read.
        d: vectors ``(..., m)``, the diagonals.
        du: vectors ``(..., m)``, the upper diagonals: element ``i`` is ``A[i, i + 1]``, and the
            last one is not read.
        b: matrices of right sides, ``(..., m, k)``.
        perturb_singular: change pivots that are almost zero so that the result is finite, as
            inverse iteration for eigenvectors wants it. Otherwise the solution with a
            singular matrix is NaN.

    Raises:
        TypeError: element types differ or are not floats or complex numbers of 32 or 64 bits.
        ValueError: shapes do not fit.
    """
    return tridiagonal_solve_p.bind(dl, d, du, b, perturb_singular=bool(perturb_singular))
