"""Matrices made of vectors and of blocks: Toeplitz, Hankel, companion and the like."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes

from ..arguments import Array, ArrayLike, arrays, inexact_arrays, one_of


@reword_errors
@one_call()
def block_diag(*arrs: ArrayLike) -> Array:
    """A matrix with matrices along its diagonal, else zero; vectors count as one row.

    Raises:
        ValueError: an argument has more than two dimensions.
    """
    if not arrs:
        return dnp.zeros((1, 0))
    result = arrays("block_diag", *arrs)
    for i, x in enumerate(result):
        if x.ndim > 2:
            raise ValueError(
                f"block_diag takes arrays of at most two dimensions; the one at position {i} has "
                f"shape {x.shape}{here()}"
            )
    dtype = dtypes.result_type(*result)
    blocks = [lax.convert_element_type(dnp.atleast_2d(x), dtype) for x in result]
    return _block_diag(blocks)


@fused()
def _block_diag(blocks: list[Any]) -> Any:
    columns, at, rows = sum(x.shape[1] for x in blocks), 0, []
    for x in blocks:
        rows.append(dnp.pad(x, [(0, 0), (at, columns - at - x.shape[1])]))
        at += x.shape[1]
    return dnp.concatenate(rows, axis=0)


def _vectors(name: str, *args: ArrayLike) -> list[Any]:
    return [dnp.atleast_1d(x) for x in arrays(name, *args)]


def _joint(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """Vectors of one type, and with common leading dimensions."""
    dtype = dtypes.result_type(x, y)
    try:
        batch = dnp.broadcast_shapes(x.shape[:-1], y.shape[:-1])
    except ValueError:
        raise ValueError(
            f"{name}: leading dimensions of shapes {x.shape} and {y.shape} do not broadcast{here()}"
        ) from None
    both = [lax.convert_element_type(v, dtype) for v in (x, y)]
    return tuple(dnp.broadcast_to(v, (*batch, v.shape[-1])) for v in both)  # type: ignore[return-value]


def _gathered(values: Any, positions: Any) -> Any:
    """Matrices of the elements of vectors at the given positions."""
    return dnp.take(values, positions, axis=-1, mode="clip") if positions.size else (
        dnp.zeros((*values.shape[:-1], *positions.shape), values.dtype))  # fmt: skip


@reword_errors
def toeplitz(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Matrices with equal elements along each diagonal.

    Args:
        c: the first columns, ``(..., n)``.
        r: the first rows, ``(..., m)``, of which the first element is not read; by default the
            conjugate of ``c``.

    Returns: matrices of shape ``(..., n, m)``.
    """
    (column,) = _vectors("toeplitz", c)
    row = dnp.conj(column) if r is None else _vectors("toeplitz", r)[0]
    return _toeplitz(*_joint("toeplitz", column, row))


@fused()
def _toeplitz(c: Any, r: Any) -> Any:
    n, m = c.shape[-1], r.shape[-1]
    values = dnp.concatenate([dnp.flip(r[..., 1:], -1), c], axis=-1)
    return _gathered(values, np.arange(n)[:, None] - np.arange(m)[None, :] + max(m - 1, 0))


@reword_errors
def hankel(c: ArrayLike, r: ArrayLike | None = None) -> Array:
    """Matrices with equal elements along each diagonal from the right to the left.

    Args:
        c: the first columns, ``(..., n)``.
        r: the last rows, ``(..., m)``, of which the first element is not read; by default zeros.

    Returns: matrices of shape ``(..., n, m)``.
    """
    (column,) = _vectors("hankel", c)
    row = dnp.zeros_like(column) if r is None else _vectors("hankel", r)[0]
    return _hankel(*_joint("hankel", column, row))


@fused()
def _hankel(c: Any, r: Any) -> Any:
    values = dnp.concatenate([c, r[..., 1:]], axis=-1)
    return _gathered(values, np.arange(c.shape[-1])[:, None] + np.arange(r.shape[-1])[None, :])


@reword_errors
def circulant(c: ArrayLike) -> Array:
    """Matrices of shape ``(..., n, n)`` whose columns are ``c``, each rotated by one more."""
    return _circulant(_vectors("circulant", c)[0])


@fused()
def _circulant(c: Any) -> Any:
    n = np.arange(c.shape[-1])
    return _gathered(c, (n[:, None] - n[None, :]) % max(len(n), 1))


@reword_errors
def fiedler(a: ArrayLike) -> Array:
    """Matrices of the distances ``|a_i - a_j|``, of shape ``(..., n, n)``."""
    (x,) = _vectors("fiedler", a)
    return dnp.abs(x[..., :, None] - x[..., None, :])


@reword_errors
def convolution_matrix(a: ArrayLike, n: int, mode: str = "full") -> Array:
    """Matrices whose product with a vector of ``n`` elements is its convolution with ``a``.

    Args:
        a: vectors of shape ``(..., m)``, with ``m > 0``.
        mode: the part of the convolution: ``"full"``, ``"same"`` (``max(m, n)`` elements) or
            ``"valid"`` (where they overlap completely).

    Raises:
        ValueError: ``a`` has no elements, ``n`` is not positive, or the mode is unknown.
    """
    one_of("convolution_matrix", "mode", mode, ("full", "same", "valid"))
    (x,) = _vectors("convolution_matrix", a)
    size, m = arguments.integer("n", n), x.shape[-1]
    if size < 1 or m < 1:
        raise ValueError(
            f"convolution_matrix takes vectors of at least one element and a positive n, got shape "
            f"{x.shape} and n={size}{here()}"
        )
    trimmed = {"full": 0, "same": min(m, size) - 1, "valid": 2 * (min(m, size) - 1)}[mode]
    return _convolution_matrix(x, n=size, first=trimmed // 2, last=trimmed - trimmed // 2)


@fused(static=("n", "first", "last"))
def _convolution_matrix(a: Any, n: int, first: int, last: int) -> Any:
    m = a.shape[-1]
    rows = np.arange(first, m + n - 1 - last)
    positions = rows[:, None] - np.arange(n)[None, :]
    in_bounds = (positions >= 0) & (positions < m)
    return dnp.where(in_bounds, _gathered(a, np.where(in_bounds, positions, 0)), 0)


@reword_errors
def companion(a: ArrayLike) -> Array:
    """Matrices whose eigenvalues are the roots of polynomials.

    Args:
        a: coefficients, of the highest power first, ``(..., n)`` with ``n >= 2``; the first is not
            zero.

    Returns: matrices of shape ``(..., n - 1, n - 1)``.

    Raises:
        ValueError: there are less than two coefficients.
    """
    (x,) = inexact_arrays("companion", a)
    x = dnp.atleast_1d(x)
    if x.shape[-1] < 2:
        raise ValueError(f"companion takes at least two coefficients, got shape {x.shape}{here()}")
    return _with_first_row(-x[..., 1:] / x[..., :1], dnp.ones((x.shape[-1] - 2,), x.dtype))


@fused()
def _with_first_row(row: Any, below: Any) -> Any:
    """Matrices of a first row and a diagonal below."""
    n = row.shape[-1]
    first, sub = np.arange(n)[:, None] == 0, np.eye(n, k=-1, dtype=bool)
    below = dnp.pad(below, [(0, 0)] * (below.ndim - 1) + [(0, 1)])
    return dnp.where(first, row[..., None, :], dnp.where(sub, below[..., None, :], 0))


@reword_errors
def leslie(f: ArrayLike, s: ArrayLike) -> Array:
    """Leslie matrices: fecundities ``f`` in the first row, survival rates ``s`` below the diagonal.

    Args:
        f: ``(..., n)`` with ``n >= 2``; ``s``: ``(..., n - 1)``.

    Raises:
        ValueError: shapes do not fit.
    """
    x, y = _vectors("leslie", f, s)
    if x.shape[-1] < 2 or y.shape[-1] != x.shape[-1] - 1:
        raise ValueError(
            f"leslie: f must have at least two elements and s one less, got shapes {x.shape} and "
            f"{y.shape}{here()}"
        )
    return _with_first_row(*_joint("leslie", x, y))


@reword_errors
def fiedler_companion(a: ArrayLike) -> Array:
    """Matrices of five diagonals whose eigenvalues are the roots of polynomials.

    Args:
        a: coefficients, of the highest power first, ``(..., n)`` with ``n >= 1``; the first is not
            zero.

    Returns: matrices of shape ``(..., n - 1, n - 1)``.

    Raises:
        ValueError: there are no coefficients.
    """
    (x,) = inexact_arrays("fiedler_companion", a)
    x = dnp.atleast_1d(x)
    if not x.shape[-1]:
        raise ValueError(
            f"fiedler_companion takes at least one coefficient, got shape {x.shape}{here()}"
        )
    return _fiedler_companion(x)


@fused()
def _fiedler_companion(a: Any) -> Any:
    size = a.shape[-1] - 1
    a = a / a[..., :1]
    if size < 2:
        return -a[..., 1:, None] if size else dnp.zeros((*a.shape[:-1], 0, 0), a.dtype)
    # The index of the coefficient at each position (with minus sign), and the mask of ones.
    positions, ones = np.zeros((size, size), np.int64), np.zeros((size, size), bool)
    rows = np.arange(size)
    positions[0, 0], ones[1, 0] = 1, True
    for i in range(0, size - 1, 2):
        positions[i, i + 1] = i + 2
    for i in range(2, size, 2):
        positions[i, i - 1] = i + 1
    ones[rows[:-2:2], rows[:-2:2] + 2] = True
    ones[rows[1:-2:2] + 2, rows[1:-2:2]] = True
    result = dnp.where(positions > 0, -_gathered(a, positions), 0)
    return dnp.where(ones, 1, result)
