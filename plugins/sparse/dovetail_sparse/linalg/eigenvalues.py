"""The largest eigenvalues of a matrix that is given by its products."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_numpy import linalg

from ..base import Array


def lobpcg_standard(A: Any, X: Any, m: int = 100, tol: Any = None) -> tuple[Array, Array, Array]:
    """The largest eigenvalues of a Hermitian matrix, and their eigenvectors, by LOBPCG.

    Each step looks for the best approximation among combinations of the vectors that it has, of
    their residuals, and of the directions in which they last moved.

    Args:
        A: a matrix of shape ``(n, n)``, dense or sparse, or a function that multiplies a matrix of
            shape ``(n, k)`` by it.
        X: of shape ``(n, k)``, where to begin: linearly independent columns, ``0 < 5 k < n``.
        m: the greatest number of steps.
        tol: a pair has converged when the norm of its residual is below
            ``10 n tol (theta + norm(A u))``; by default the precision of the dtype.

    Returns:
        The ``k`` largest eigenvalues, in decreasing order; unit eigenvectors as columns; and how
        many steps were taken.

    Raises:
        ValueError: shapes or dtypes do not fit together.
    """
    X = dnp.asarray(X)
    _check(A, X)
    n, k = X.shape
    tol = np.finfo(X.dtype).eps if tol is None else tol
    apply: Callable[[Any], Any] = A if callable(A) else lambda x: A @ x

    def step(state: Any) -> Any:
        i, X, P, R, _, _ = state
        basis = linalg.qr(dnp.concatenate([X, R, P], axis=1))[0]
        theta, X_new = _best(apply, basis, k)
        P = X_new - X @ (X.T.conj() @ X_new)
        return _judged(i + 1, X_new, P, theta)

    def _judged(i: Any, X: Any, P: Any, theta: Any) -> Any:
        AX = apply(X)
        R = AX - X * theta
        size = linalg.norm(AX, axis=0) + theta
        done = dnp.all(linalg.norm(R, axis=0) < tol * 10 * n * size)
        return i, X, P, R, theta, done

    theta, X = _best(apply, linalg.qr(X)[0], k)
    state = _judged(dnp.int32(0), X, dnp.zeros_like(X), theta)
    state = lax.while_loop(lambda s: (s[0] < m) & ~s[5], step, state)
    return state[4], state[1], state[0]


def _best(apply: Callable[[Any], Any], basis: Any, k: int) -> tuple[Any, Any]:
    """The ``k`` largest eigenvalues, and vectors, of the matrix within an orthonormal basis."""
    inner = basis.T.conj() @ apply(basis)
    theta, vectors = linalg.eigh((inner + inner.T.conj()) / 2)
    return theta[::-1][:k], basis @ vectors[:, ::-1][:, :k]


def _check(A: Any, X: Any) -> None:
    if X.ndim != 2 or not 0 < 5 * X.shape[1] < X.shape[0]:
        raise ValueError(
            f"lobpcg_standard: X has shape {X.shape}; it must be (n, k) with 0 < 5 k < n{here()}"
        )
    if callable(A):
        return
    if A.shape != (X.shape[0],) * 2 or A.dtype != X.dtype:
        raise ValueError(
            f"lobpcg_standard: A has shape {A.shape} and dtype {A.dtype}, X {X.shape} and "
            f"{X.dtype}; A must be (n, n), of the dtype of X{here()}"
        )
