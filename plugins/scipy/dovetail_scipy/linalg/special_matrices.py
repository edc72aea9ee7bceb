"""Matrices that are determined by their size: Hilbert, Pascal, Hadamard, Helmert, Fourier.

They are computed with NumPy, exactly or in double precision, and rounded once.
"""

from __future__ import annotations

from math import comb
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import canonical_dtype, here
from dovetail_jit import one_call
from dovetail_lax import dtypes

from ..arguments import Array, one_of


def _size(name: str, n: Any, least: int = 0) -> int:
    size = arguments.integer("n", n)
    if size < least:
        raise ValueError(
            f"{name}: n must {'be positive' if least else 'not be negative'}, got {size}{here()}"
        )
    return size


def _float_matrix(values: Any) -> Array:
    """Numbers, perhaps Python integers of any size, as an array of the default float type."""
    return dnp.asarray(np.asarray(values, np.float64).astype(canonical_dtype("float64")))


@reword_errors
@one_call("n")
def hilbert(n: int) -> Array:
    """The Hilbert matrix of ``1 / (i + j + 1)``.

    Raises:
        ValueError: ``n`` is negative.
    """
    indices = np.arange(_size("hilbert", n), dtype=np.float64)
    return _float_matrix(1 / (indices[:, None] + indices + 1))


@reword_errors
def invhilbert(n: int) -> Array:
    """The inverse of :func:`hilbert`, of integers, rounded to floats.

    Raises:
        ValueError: ``n`` is negative.
    """
    size = _size("invhilbert", n)

    def element(i: int, j: int) -> int:
        product = comb(size + i, size - j - 1) * comb(size + j, size - i - 1)
        return (-1) ** (i + j) * (i + j + 1) * product * comb(i + j, i) ** 2

    return _float_matrix(_table(size, element))


def _table(size: int, element: Any) -> Any:
    values = [float(element(i, j)) for i in range(size) for j in range(size)]
    return np.array(values, np.float64).reshape(size, size)


@reword_errors
def pascal(n: int, kind: str | None = None) -> Array:
    """The Pascal matrix of binomial coefficients, rounded to floats.

    Args:
        kind: ``"lower"``: ``L`` of ``i`` over ``j``; ``"upper"``: its transpose; ``"symmetric"`` or
            None: ``L Lᵀ``, of ``i + j`` over ``i``.

    Raises:
        ValueError: ``n`` is negative, or ``kind`` something else.
    """
    one_of("pascal", "kind", kind or "symmetric", ("symmetric", "lower", "upper"))
    size = _size("pascal", n)
    if kind in (None, "symmetric"):
        return _float_matrix(_table(size, lambda i, j: comb(i + j, i)))
    result = _table(size, comb)
    return _float_matrix(result if kind == "lower" else result.T)


@reword_errors
def invpascal(n: int, kind: str | None = None) -> Array:
    """The inverse of :func:`pascal`.

    Raises:
        ValueError: ``n`` is negative, or ``kind`` something else.
    """
    one_of("invpascal", "kind", kind or "symmetric", ("symmetric", "lower", "upper"))
    size = _size("invpascal", n)

    def element(i: int, j: int) -> int:
        return (-1) ** (i + j) * comb(i, j)

    if kind in (None, "symmetric"):  # (L Lᵀ)⁻¹ = L⁻ᵀ L⁻¹
        terms = lambda i, j: sum(element(k, i) * element(k, j) for k in range(size))  # noqa: E731
        return _float_matrix(_table(size, terms))
    result = _table(size, element)
    return _float_matrix(result if kind == "lower" else result.T)


@reword_errors
def hadamard(n: int, dtype: Any = int) -> Array:
    """The Hadamard matrix of ``n`` rows, of ones and minus ones, by Sylvester's construction.

    Raises:
        ValueError: ``n`` is not a power of 2.
    """
    size = arguments.integer("n", n)
    if size < 1 or size & (size - 1):
        raise ValueError(f"hadamard: n must be a power of 2, got {size}{here()}")
    result = np.ones((1, 1), np.int8)
    while len(result) < size:
        result = np.block([[result, result], [result, -result]])
    return dnp.asarray(result.astype(dtypes.as_dtype(dtype)))


@reword_errors
def helmert(n: int, full: bool = False) -> Array:
    """The Helmert matrix: orthonormal rows of which each compares an element with those before.

    Args:
        full: with a first row of equal elements, so that the matrix is square.

    Raises:
        ValueError: ``n`` is not positive.
    """
    size = _size("helmert", n, 1)
    result = np.tril(np.ones((size, size)), -1) - np.diag(np.arange(size, dtype=np.float64))
    result[0] = 1
    k = np.arange(size, dtype=np.float64)
    scale = np.sqrt(k * (k + 1))
    scale[0] = np.sqrt(size)
    result /= scale[:, None]
    return _float_matrix(result if full else result[1:])


@reword_errors
def dft(n: int, scale: str | None = None, *, dtype: Any = None) -> Array:
    """The matrix of the discrete Fourier transform: ``exp(-2πi jk / n)``.

    Args:
        scale: None; ``"sqrtn"``: divided by the square root of ``n``, so that it is unitary;
            ``"n"``: divided by ``n``.
        dtype: a complex type; by default that of Python's complex numbers.

    Raises:
        ValueError: ``n`` is negative, ``scale`` something else, or ``dtype`` not complex.
    """
    if scale is not None:
        one_of("dft", "scale", scale, ("sqrtn", "n"))
    size = _size("dft", n)
    result = dtypes.as_dtype(complex if dtype is None else dtype)
    if result.kind != "c":
        raise ValueError(f"dft: dtype must be complex, got {result}{here()}")
    indices = np.arange(size)
    waves = np.exp(-2j * np.pi / max(size, 1) * (np.outer(indices, indices) % max(size, 1)))
    factor = {None: 1.0, "sqrtn": np.sqrt(max(size, 1)), "n": float(max(size, 1))}[scale]
    return dnp.asarray((waves / factor).astype(result))
