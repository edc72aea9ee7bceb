"""Factorizations: Cholesky, LU, QR, singular values, Hermitian eigenvalues, polar decomposition."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused, one_call

from ..arguments import Array, ArrayLike, inexact_arrays, one_of
from .arguments import adjoint, matmul, matrices, square


@fused(static=("lower",))
def _cholesky(a: Any, lower: bool) -> Any:
    if lower:
        return lax.linalg.cholesky(a, symmetrize_input=False)
    return adjoint(lax.linalg.cholesky(adjoint(a), symmetrize_input=False))


@reword_errors
@one_call("lower", "overwrite_a", "check_finite")
def cholesky(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Array:
    """The Cholesky factor of Hermitian positive definite matrices; NaN where they are not.

    Args:
        a: matrices of shape ``(..., n, n)``, of which one triangle is read.
        lower: return the lower triangular ``L`` with ``a = L Lᴴ`` and read the lower triangle;
            otherwise the upper triangular ``U`` with ``a = Uᴴ U``.
        overwrite_a, check_finite: accepted for compatibility.

    Raises:
        ValueError: the matrices are not square.
    """
    return _cholesky(square("cholesky", a)[0], lower=bool(lower))


@reword_errors
def cho_factor(
    a: ArrayLike, lower: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, bool]:
    """A Cholesky factor for :func:`cho_solve`: the factor, and ``lower`` (see :func:`cholesky`)."""
    return _cho_factor(a, lower), bool(lower)


@one_call("lower")
def _cho_factor(a: Any, lower: bool) -> Any:
    return _cholesky(square("cho_factor", a)[0], lower=bool(lower))


@reword_errors
@one_call("overwrite_a", "check_finite")
def lu_factor(
    a: ArrayLike, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, Array]:
    """An LU factorization for :func:`lu_solve`.

    Args:
        a: matrices of shape ``(..., m, n)``.
        overwrite_a, check_finite: accepted for compatibility.

    Returns: ``(lu, pivots)``: ``L`` without its diagonal of ones below and ``U`` on and above the
        diagonal; the row with which each row was exchanged.
    """
    factors, pivots, _ = lax.linalg.lu(matrices("lu_factor", a)[0])
    return factors, pivots


@reword_errors
@one_call("permute_l", "overwrite_a", "check_finite")
def lu(
    a: ArrayLike, permute_l: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> tuple[Array, ...]:
    """``a = P L U`` with a permutation ``P``, ``L`` lower triangular with ones on its diagonal.

    Args:
        a: matrices of shape ``(..., m, n)``.
        permute_l: return ``(P L, U)`` instead of ``(P, L, U)``.
        overwrite_a, check_finite: accepted for compatibility.
    """
    return _lu(matrices("lu", a)[0], permute_l=bool(permute_l))


@fused(static=("permute_l",))
def _lu(a: Any, permute_l: bool) -> tuple[Any, ...]:
    m, n = a.shape[-2:]
    k = min(m, n)
    factors, _, permutation = lax.linalg.lu(a)
    indices = dnp.arange(m, dtype=permutation.dtype)
    # Row i of P A is row permutation[i] of A: so P has a one at (permutation[i], i).
    p = dnp.astype(indices[:, None] == permutation[..., None, :], a.real.dtype)
    lower = dnp.tril(factors, -1)[..., :k] + dnp.eye(m, k, dtype=a.dtype)
    upper = dnp.triu(factors)[..., :k, :]
    return (matmul(dnp.astype(p, a.dtype), lower), upper) if permute_l else (p, lower, upper)


@reword_errors
@one_call("overwrite_a", "lwork", "mode", "pivoting", "check_finite")
def qr(
    a: ArrayLike,
    overwrite_a: bool = False,
    lwork: Any = None,
    mode: str = "full",
    pivoting: bool = False,
    check_finite: bool = True,
) -> tuple[Array, ...]:
    """``a = Q R`` with ``Q`` unitary and ``R`` upper triangular.

    Args:
        a: matrices of shape ``(..., m, n)``.
        mode: ``"full"``: ``Q`` is square; ``"economic"``: it has ``min(m, n)`` columns; ``"r"``:
            ``R`` alone, as for ``"full"``.
        pivoting: also return the order of columns ``p`` with ``a[:, p] = Q R``.
        overwrite_a, lwork, check_finite: accepted for compatibility.

    Returns: ``(Q, R)``, or ``(R,)``, and with ``pivoting`` the order of columns.

    Raises:
        ValueError: the mode is unknown.
    """
    one_of("qr", "mode", mode, ("full", "r", "economic"))
    (x,) = matrices("qr", a)
    q, *rest = lax.linalg.qr(x, pivoting=bool(pivoting), full_matrices=mode != "economic")
    return tuple(rest) if mode == "r" else (q, *rest)


@reword_errors
def qr_multiply(
    a: ArrayLike,
    c: ArrayLike,
    mode: str = "right",
    pivoting: bool = False,
    conjugate: bool = False,
    overwrite_a: bool = False,
    overwrite_c: bool = False,
) -> tuple[Array, ...]:
    """The product of ``Q`` of ``a = Q R`` with another matrix, and ``R``.

    Args:
        a: matrices of shape ``(..., m, n)``; ``Q`` has ``k = min(m, n)`` columns.
        c: matrices ``(..., p, m)`` for ``mode="right"``, which returns ``c @ Q``; ``(..., k, p)``
            for ``mode="left"``, which returns ``Q @ c``. Or a vector, of ``m`` or ``k`` elements.
        pivoting: factor ``a[:, p]`` and return ``p``, too.
        conjugate: with the conjugate of ``Q``.
        overwrite_a, overwrite_c: accepted for compatibility.

    Raises:
        ValueError: the mode is unknown, or shapes do not fit.
    """
    one_of("qr_multiply", "mode", mode, ("right", "left"))
    x, y = inexact_arrays("qr_multiply", a, c)
    matrices("qr_multiply", x)
    size = x.shape[-2] if mode == "right" else min(x.shape[-2:])
    if not y.ndim or y.shape[-1 if mode == "right" or y.ndim == 1 else -2] != size:
        raise ValueError(
            f"qr_multiply: matrices of shape {x.shape} and {y.shape} do not fit for mode={mode!r}"
            f"{here()}: the second one must have {size} "
            f"{'columns' if mode == 'right' else 'rows'}."
        )
    return _qr_multiply(x, y, right=mode == "right", pivoting=bool(pivoting),
                        conjugate=bool(conjugate))  # fmt: skip


@fused(static=("right", "pivoting", "conjugate"))
def _qr_multiply(a: Any, c: Any, right: bool, pivoting: bool, conjugate: bool) -> tuple[Any, ...]:
    q, *rest = lax.linalg.qr(a, pivoting=pivoting, full_matrices=False)
    q = dnp.conj(q) if conjugate else q
    return (matmul(c, q) if right else matmul(q, c), *rest)


@reword_errors
@one_call("full_matrices", "compute_uv", "overwrite_a", "check_finite", "lapack_driver")
def svd(
    a: ArrayLike,
    full_matrices: bool = True,
    compute_uv: bool = True,
    overwrite_a: bool = False,
    check_finite: bool = True,
    lapack_driver: str = "gesdd",
) -> Any:
    """``a = U diag(s) Vᴴ`` with unitary ``U`` and ``V`` and ``s`` in decreasing order.

    Args:
        a: matrices of shape ``(..., m, n)``.
        full_matrices: ``U`` and ``V`` are square; otherwise they have ``min(m, n)`` columns.
        compute_uv: return ``(U, s, Vᴴ)``; otherwise ``s`` alone.
        overwrite_a, check_finite, lapack_driver: accepted for compatibility;
            ``lax.linalg.svd`` has a choice of algorithms.
    """
    (x,) = matrices("svd", a)
    if not compute_uv:
        return lax.linalg.svd(x, full_matrices=False, compute_uv=False)
    return tuple(lax.linalg.svd(x, full_matrices=bool(full_matrices)))


@reword_errors
@one_call(
    "lower",
    "eigvals_only",
    "overwrite_a",
    "overwrite_b",
    "turbo",
    "eigvals",
    "type",
    "check_finite",
)
def eigh(
    a: ArrayLike,
    b: ArrayLike | None = None,
    lower: bool = True,
    eigvals_only: bool = False,
    overwrite_a: bool = False,
    overwrite_b: bool = False,
    turbo: bool = True,
    eigvals: None = None,
    type: int = 1,
    check_finite: bool = True,
) -> Any:
    """Eigenvalues in increasing order and eigenvectors, as columns, of Hermitian matrices.

    Args:
        a: matrices of shape ``(..., n, n)``, of which ``(a + aᴴ) / 2`` is decomposed.
        lower, overwrite_a, overwrite_b, turbo, check_finite: accepted for compatibility.
        eigvals_only: return the eigenvalues alone.

    Raises:
        NotImplementedError: ``b`` (another matrix on the right) or ``eigvals`` is given, or
            ``type`` is not 1.
        ValueError: the matrices are not square.
    """
    for what, wrong in (
        ("b", b is not None),
        ("eigvals", eigvals is not None),
        ("type", type != 1),
    ):
        if wrong:
            raise NotImplementedError(
                f"eigh: {what} is not supported{here()}. For a positive definite b, decompose "
                "inv(L) a inv(L)ᴴ with L = cholesky(b, lower=True); select eigenvalues afterwards."
            )
    vectors, values = lax.linalg.eigh(square("eigh", a)[0], lower=bool(lower))
    return values if eigvals_only else (values, vectors)


@reword_errors
@one_call("side", "method", "max_iterations")
def polar(
    a: ArrayLike,
    side: str = "right",
    *,
    method: str = "qdwh",
    eps: float | None = None,
    max_iterations: int | None = None,
) -> tuple[Array, Array]:
    """The polar decomposition: ``a = U P``, or ``a = P U`` for ``side="left"``.

    ``U`` has orthonormal columns, or orthonormal rows where there are more columns than rows;
    ``P`` is positive semidefinite.

    Args:
        a: matrices of shape ``(..., m, n)``, of full rank for ``method="qdwh"``.
        method: ``"qdwh"``: Halley's iteration (see ``lax.linalg.qdwh``); ``"svd"``: from singular
            values.
        eps, max_iterations: the tolerance and the greatest number of iterations.

    Raises:
        ValueError: ``side`` or ``method`` is something else.
    """
    one_of("polar", "side", side, ("right", "left"))
    one_of("polar", "method", method, ("qdwh", "svd"))
    (x,) = matrices("polar", a)
    left = side == "left"
    if method == "svd":
        return _by_values(x, left=left)
    return _by_iteration(x, left=left, eps=eps, most=max_iterations)


@fused(static=("left",))
def _by_values(a: Any, left: bool) -> tuple[Any, Any]:
    u, s, vh = lax.linalg.svd(a, full_matrices=False)
    s = dnp.astype(s, a.dtype)
    unitary = matmul(u, vh)
    if left:
        return unitary, matmul(u * s[..., None, :], adjoint(u))
    return unitary, matmul(adjoint(vh) * s[..., None, :], vh)


@fused(static=("left", "eps", "most"))
def _by_iteration(a: Any, left: bool, eps: Any, most: Any) -> tuple[Any, Any]:
    wide = a.shape[-2] < a.shape[-1]
    u = lax.linalg.qdwh(adjoint(a) if wide else a, eps=eps, max_iterations=most)[0]
    u = adjoint(u) if wide else u
    p = matmul(a, adjoint(u)) if left else matmul(adjoint(u), a)
    return u, (p + adjoint(p)) / 2
