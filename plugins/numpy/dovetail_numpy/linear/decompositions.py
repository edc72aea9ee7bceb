"""Decompositions of matrices: Cholesky, QR, singular values, eigenvalues; and their arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_lax.errors import ShapeError

from ..creation.arrays import as_array
from ..fusion import one_call
from ..operands import Array, ArrayLike
from ..promotion import promote


def matrices(name: str, *args: ArrayLike) -> list[Any]:
    """Arguments as floating-point arrays of at least two dimensions.

    Raises:
        ValueError: one has less than two dimensions.
    """
    arrays = [as_array(name, x, i) for i, x in enumerate(promote(name, *args, inexact=True))]
    for i, x in enumerate(arrays):
        if x.ndim < 2:
            raise ShapeError(
                f"{name} takes matrices, or stacks of them; the argument at position {i} has shape "
                f"{x.shape}{here()}"
            )
    return arrays


def square(name: str, a: ArrayLike) -> Any:
    """An argument as a stack of square matrices.

    Raises:
        ValueError: its last two dimensions differ.
    """
    (x,) = matrices(name, a)
    if x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{name} takes square matrices, got shape {x.shape}{here()}")
    return x


def transposed(x: Any) -> Any:
    """Matrices transposed."""
    return lax.transpose(x, (*range(x.ndim - 2), x.ndim - 1, x.ndim - 2))


def adjoint(x: Any) -> Any:
    """Matrices conjugated and transposed."""
    out = transposed(x)
    return lax.conj(out) if x.dtype.kind == "c" else out


class QRResult(NamedTuple):
    """``a == Q @ R`` with orthonormal columns of ``Q`` and upper triangular ``R``."""

    Q: Any
    R: Any


class SVDResult(NamedTuple):
    """``a == U @ diag(S) @ Vh`` with singular values ``S`` in decreasing order."""

    U: Any
    S: Any
    Vh: Any


@reword_errors
@one_call("upper", "symmetrize_input", shared=True)
def cholesky(a: ArrayLike, *, upper: bool = False, symmetrize_input: bool = True) -> Array:
    """The triangular factor of Hermitian positive definite matrices; NaN where they are not.

    Args:
        upper: return the upper triangular factor ``U`` with ``a == U.mH @ U``, else the lower one.
        symmetrize_input: use ``(a + a.mH) / 2``.

    Raises:
        ValueError: the matrices are not square.
    """
    x = square("cholesky", a)
    if upper:
        x = adjoint(x)
    lower = lax.linalg.cholesky(x, symmetrize_input=symmetrize_input)
    return adjoint(lower) if upper else lower


@reword_errors
@one_call("mode")
def qr(a: ArrayLike, mode: str = "reduced") -> Any:
    """The QR factorization.

    Args:
        mode: ``"reduced"`` or ``"complete"`` (square ``Q``) for both factors, ``"r"`` for the
            second alone, ``"raw"`` for LAPACK's form of the factorization: transposed, ``R`` and
            the Householder reflections below it, and the reflections' factors. That has no
            derivative.

    Raises:
        ValueError: the mode is unknown, or ``a`` has less than two dimensions.
    """
    (x,) = matrices("qr", a)
    if mode == "raw":
        result, taus = lax.linalg.geqrf(x)
        return QRResult(transposed(result), taus)
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(
            f"qr: mode must be 'reduced', 'complete', 'r' or 'raw', got {mode!r}{here()}"
        )
    q, r = lax.linalg.qr(x, full_matrices=mode == "complete")
    return r if mode == "r" else QRResult(q, r)


@reword_errors
@one_call("full_matrices", "compute_uv", "hermitian", "subset_by_index")
def svd(
    a: ArrayLike, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False,
    subset_by_index: tuple[int, int] | None = None,
) -> Any:  # fmt: skip
    """The singular value decomposition.

    Args:
        full_matrices: whether ``U`` and ``Vh`` are square.
        compute_uv: False returns the singular values alone.
        hermitian: the matrices are Hermitian, which is faster.
        subset_by_index: which singular values to return, as a range; not with ``hermitian``.

    Raises:
        ValueError: ``a`` has less than two dimensions.
    """
    if hermitian:
        if subset_by_index is not None:
            raise NotImplementedError(
                f"svd: subset_by_index with hermitian=True is not supported{here()}"
            )
        return _svd_hermitian(square("svd", a), compute_uv)
    (x,) = matrices("svd", a)
    if not compute_uv:
        return lax.linalg.svd(
            x, full_matrices=False, compute_uv=False, subset_by_index=subset_by_index
        )
    result = lax.linalg.svd(x, full_matrices=full_matrices, subset_by_index=subset_by_index)
    return SVDResult(*result)


def _svd_hermitian(x: Any, compute_uv: bool) -> Any:
    from ..indexing.taking import take_along_axis
    from ..searching.sorting import argsort

    values, vectors = eigh(x)
    sizes = lax.abs(values)
    order = argsort(sizes, axis=-1, descending=True)
    s = take_along_axis(sizes, order, axis=-1)
    if not compute_uv:
        return s
    u = take_along_axis(vectors, lax.expand_dims(order, (order.ndim - 1,)), axis=-1)
    signs = lax.sign(take_along_axis(values, order, axis=-1))
    signs = lax.convert_element_type(signs, u.dtype)
    signed = lax.mul(u, lax.broadcast_in_dim(signs, u.shape, (*range(u.ndim - 2), u.ndim - 1)))
    return SVDResult(u, s, adjoint(signed))


@reword_errors
def svdvals(x: ArrayLike, /) -> Array:
    """The singular values of matrices in decreasing order."""
    return svd(x, compute_uv=False)


class EigResult(NamedTuple):
    """Eigenvalues, and eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


class EighResult(NamedTuple):
    """Eigenvalues in increasing order, and orthonormal eigenvectors as columns."""

    eigenvalues: Any
    eigenvectors: Any


@reword_errors
@one_call()
def eig(a: ArrayLike) -> EigResult:
    """Eigenvalues and eigenvectors of square matrices, as complex numbers.

    Raises:
        ValueError: the matrices are not square.
    """
    values, vectors = lax.linalg.eig(square("eig", a), compute_left_eigenvectors=False)
    return EigResult(values, vectors)


@reword_errors
@one_call()
def eigvals(a: ArrayLike) -> Array:
    """Eigenvalues of square matrices, as complex numbers."""
    out = lax.linalg.eig(
        square("eigvals", a), compute_left_eigenvectors=False, compute_right_eigenvectors=False
    )
    return out[0]


def _eigh(name: str, a: ArrayLike, UPLO: str | None, symmetrize_input: bool) -> EighResult:
    if UPLO not in (None, "L", "U"):
        raise ValueError(f"{name}: UPLO must be 'L' or 'U', got {UPLO!r}{here()}")
    x = square(name, a)
    vectors, values = lax.linalg.eigh(x, lower=UPLO != "U", symmetrize_input=symmetrize_input)
    return EighResult(values, vectors)


@reword_errors
@one_call("UPLO", "symmetrize_input")
def eigh(a: ArrayLike, UPLO: str | None = None, symmetrize_input: bool = True) -> EighResult:
    """Eigenvalues and eigenvectors of Hermitian matrices.

    At equal eigenvalues gradients exist for functions of the vectors alone, through the space
    that they span, and are NaN otherwise: also those of ``(v * f(w)) @ v.T``, whose derivative
    needs that of ``f``, which the decomposition does not see (use ``scipy.linalg.expm`` and the
    like).

    Args:
        UPLO: which triangle to read, ``"L"`` (the default) or ``"U"``, of what is then used.
        symmetrize_input: use ``(a + a.mH) / 2``.

    Raises:
        ValueError: the matrices are not square.
    """
    return _eigh("eigh", a, UPLO, symmetrize_input)


@reword_errors
@one_call("UPLO", "symmetrize_input")
def eigvalsh(a: ArrayLike, UPLO: str | None = "L", *, symmetrize_input: bool = True) -> Array:
    """Eigenvalues of Hermitian matrices in increasing order (see :func:`eigh`).

    At equal eigenvalues, sums over them (as of ``log(w)``) have gradients; their second derivatives
    by elements of the block of equal values off the diagonal are NaN. Where these are needed,
    write the sum without eigenvalues: ``slogdet`` or a Cholesky factor for logarithms,
    ``trace`` of ``matrix_power`` or ``expm``.
    """
    return _eigh("eigvalsh", a, UPLO, symmetrize_input).eigenvalues
