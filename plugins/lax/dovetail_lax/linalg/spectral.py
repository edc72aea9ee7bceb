"""Public functions of eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

from dovetail_base.foreign import reword_errors
from dovetail_core import here

from ..functions.operands import Array, ArrayLike, check
from ..primitives.factorizations import matrix_type
from ..primitives.moves import along
from ..primitives.spectral import (
    EighImplementation,
    EigImplementation,
    SvdAlgorithm,
    eig_p,
    eigh_p,
    svd_p,
)
from .factorizations import inexact, symmetrized


@reword_errors
def eigh(
    x: ArrayLike,
    *,
    lower: bool = True,
    symmetrize_input: bool = True,
    sort_eigenvalues: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    implementation: EighImplementation | None = None,
) -> tuple[Array, Array]:
    """Eigenvectors and eigenvalues of Hermitian matrices.

    Derivatives at equal eigenvalues are right or NaN: see ``numpy.linalg.eigh``, ``eigvalsh``.

    Args:
        x: matrices of shape ``(..., n, n)``.
        lower: which triangle is read, where ``symmetrize_input`` is False.
        symmetrize_input: decompose ``(x + xᴴ) / 2``.
        sort_eigenvalues: accepted for compatibility; they are always in ascending order.
        subset_by_index: return only those from the first to before the second index.
        implementation: platforms offer some; CPUs their own (``QR``) alone.

    Returns: ``(v, w)``: ``v[..., :, i]`` is the normalised eigenvector of ``w[..., i]``. NaN where
        the iteration did not converge.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of square matrices, or the subset is out of bounds.
    """
    x = inexact("eigh", x)
    n = matrix_type("eigh", check("eigh", x), square=True)[1]
    v, w = eigh_p.bind(symmetrized(x) if symmetrize_input else x, lower=bool(lower))
    if subset_by_index is not None:
        start, stop = _subset("eigh", subset_by_index, n)
        v, w = along(v, len(v.shape) - 1, start, stop), along(w, len(w.shape) - 1, start, stop)
    return v, w


def _subset(name: str, subset: tuple[int, int], n: int) -> tuple[int, int]:
    start, stop = subset
    if not 0 <= start <= stop <= n:
        raise ValueError(
            f"lax.linalg.{name} got subset_by_index={subset} of {n} values{here()}: indices must "
            f"be from 0 to {n}, in order."
        )
    return start, stop


@reword_errors
def eig(
    x: ArrayLike,
    *,
    compute_left_eigenvectors: bool = True,
    compute_right_eigenvectors: bool = True,
    enable_eigvec_derivs: bool = False,
    implementation: EigImplementation | None = None,
    use_magma: bool | None = None,
) -> list[Array]:
    """Eigenvalues of general matrices, then left and right eigenvectors where wanted.

    Results are complex. Eigenvectors have length 1, and their largest element is real.

    Args:
        enable_eigvec_derivs: eigenvectors have derivatives, too, which are right where no two
            eigenvalues are equal, and no two elements of an eigenvector the largest.
        implementation, use_magma: accepted for compatibility; they choose a library for GPUs.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of square matrices.
    """
    return list(
        eig_p.bind(
            x,
            compute_left_eigenvectors=bool(compute_left_eigenvectors),
            compute_right_eigenvectors=bool(compute_right_eigenvectors),
            enable_eigvec_derivs=bool(enable_eigvec_derivs),
        )
    )


@reword_errors
def svd(
    x: ArrayLike,
    *,
    full_matrices: bool = True,
    compute_uv: bool = True,
    subset_by_index: tuple[int, int] | None = None,
    algorithm: SvdAlgorithm | None = None,
) -> Any:
    """``x = U diag(s) Vᴴ`` with unitary ``U`` and ``V`` and ``s`` descending.

    Args:
        full_matrices: ``U`` and ``V`` are square; otherwise they have ``min(m, n)`` columns.
        compute_uv: return ``(U, s, Vᴴ)``; otherwise ``s`` alone.
        subset_by_index: only values from the first to before the second index, with their vectors.
        algorithm: how; platforms offer some (CPUs ``DIVIDE_AND_CONQUER``, the default, and ``QR``).

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices, the subset is out of bounds, or it is wanted
            with ``full_matrices``.
    """
    _, m, n = matrix_type("svd", check("svd", x))
    result = svd_p.bind(
        x, full_matrices=bool(full_matrices), compute_uv=bool(compute_uv), algorithm=algorithm
    )
    if subset_by_index is not None:
        result = _part(result, subset_by_index, m, n, full_matrices and compute_uv)
    return (result[1], result[0], result[2]) if compute_uv else result[0]


def _part(result: list[Any], subset: tuple[int, int], m: int, n: int, square: bool) -> list[Any]:
    start, stop = _subset("svd", subset, min(m, n))
    if square and (start, stop) != (0, min(m, n)):
        raise ValueError(
            f"lax.linalg.svd got subset_by_index={subset} with full_matrices=True{here()}: there "
            "would be more vectors than values. Set full_matrices=False."
        )
    last = len(result[0].shape) - 1
    s = along(result[0], last, start, stop)
    if len(result) == 1 or square:
        return [s, *result[1:]]
    return [s, along(result[1], last + 1, start, stop), along(result[2], last, start, stop)]
