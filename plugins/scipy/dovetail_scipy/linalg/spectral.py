"""Singular values, eigenvalues of Hermitian matrices, polar decomposition."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import names_itself
from dovetail_core import here
from dovetail_jit import fused, one_call

from ..inputs import Array, ArrayLike, one_of
from .arguments import adjoint, matmul, matrices, square


@names_itself
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


@names_itself
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


@names_itself
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
        eps, max_iterations: when the iteration ends.

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
