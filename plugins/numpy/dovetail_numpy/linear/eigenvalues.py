"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import dovetail_lax as lax

from ..operands import Array, ArrayLike
from .checks import square


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Eigenvalues in increasing order, and orthonormal eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, as complex numbers.

    Raises:
        ValueError: the matrices are not square.
    """
    values, vectors = lax.linalg.eig(square("eig", a), compute_left_eigenvectors=False)
    return EigResult(values, vectors)


def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices, as complex numbers."""
    out = lax.linalg.eig(
        square("eigvals", a), compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )
    return out[0]


def _eigh(name: str, a: ArrayLike, UPLO: str | None, symmetrize_input: bool) -> EighResult:
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"{name}: UPLO must be 'L' or 'U', got {UPLO!r}")
    x = square(name, a)
    vectors, values = lax.linalg.eigh(x, lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(values, vectors)


def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    Args:
        UPLO: which triangle to read, ``"L"`` (the default) or ``"U"``, of what is then used.
        symmetrize_input: use ``(a + a.mH) / 2``.

    Raises:
        ValueError: the matrices are not square.
    """
    return _eigh("eigh", a, UPLO, symmetrize_input)


def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of Hermitian matrices in increasing order (see :func:`eigh`)."""
    return _eigh("eigvalsh", a, UPLO, symmetrize_input).eigenvalues
