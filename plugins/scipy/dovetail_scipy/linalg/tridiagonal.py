"""Eigenvalues of Hermitian tridiagonal matrices, by bisection."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_custom_rules import custom_jvp
from dovetail_jit import fused
from dovetail_lax import dtypes

from ..arguments import Array, ArrayLike, arrays, one_of
from .arguments import adjoint


@reword_errors
def eigh_tridiagonal(
    d: ArrayLike,
    e: ArrayLike,
    *,
    eigvals_only: bool = False,
    select: str = "a",
    select_range: tuple[float, float] | None = None,
    tol: float | None = None,
    key: Array | None = None,
) -> Any:
    """Eigenvalues in increasing order, and eigenvectors, of Hermitian tridiagonal matrices.

    Args:
        d: the diagonals, of shape ``(..., n)``.
        e: the diagonals above, of shape ``(..., n - 1)``; those below are their conjugates.
        eigvals_only: return the eigenvalues alone, which takes no more memory than these.
        select: ``"a"``: all; ``"i"``: from number ``select_range[0]`` to ``select_range[1]``,
            inclusive.
        tol: the accuracy of eigenvalues with ``eigvals_only``; by default that of rounding in the
            matrix's norm.
        key: accepted for compatibility: eigenvectors are computed without random numbers.

    Returns: ``values``, or ``(values, vectors)`` with eigenvectors as columns.

    Raises:
        NotImplementedError: ``select`` is ``"v"``, for which the number of eigenvalues is unknown.
        TypeError: the element types differ, or are not floats or complex numbers of 32 or 64 bits.
        ValueError: shapes or ``select_range`` do not fit, or ``select`` is something else.
    """
    x, y = arrays("eigh_tridiagonal", d, e)
    if x.dtype != y.dtype or x.dtype.name not in ("float32", "float64", "complex64", "complex128"):
        raise TypeError(
            f"eigh_tridiagonal: d and e must both be of float32, float64, complex64 or complex128, "
            f"got {x.dtype} and {y.dtype}{here()}. Convert them with astype."
        )
    if not x.ndim or not x.shape[-1] or y.shape != (*x.shape[:-1], x.shape[-1] - 1):
        raise ValueError(
            f"eigh_tridiagonal: e must have one element less than d, got shapes {x.shape} and "
            f"{y.shape}{here()}"
        )
    first, last = _selected(select, select_range, x.shape[-1])
    if eigvals_only:
        return _eigenvalues(x, y, first=first, last=last, tol=None if tol is None else float(tol))
    return _eigenvectors(x, y, first=first, last=last)


def _selected(select: str, bounds: Any, n: int) -> tuple[int, int]:
    one_of("eigh_tridiagonal", "select", select, ("a", "i", "v"))
    if select == "v":
        raise NotImplementedError(
            f"eigh_tridiagonal: select='v' is not supported{here()}: the number of eigenvalues "
            "within bounds is not known before. Select by indices, or compute all."
        )
    if select == "a":
        return 0, n - 1
    if bounds is None or len(bounds) != 2:
        raise ValueError(f"eigh_tridiagonal: select='i' takes a select_range of two{here()}")
    first, last = (arguments.integer("select_range", i) for i in bounds)
    if not 0 <= first <= last < n:
        raise ValueError(
            f"eigh_tridiagonal: select_range={(first, last)} of {n} eigenvalues{here()}: indices "
            f"must be from 0 to {n - 1}, in order."
        )
    return first, last


def _dense(d: Any, e: Any) -> Any:
    """The matrices as dense ones, of which only the lower triangle is read."""
    n = d.shape[-1]
    eye, below = np.eye(n, dtype=bool), np.eye(n, k=-1, dtype=bool)
    padded = dnp.pad(dnp.conj(e), [(0, 0)] * (e.ndim - 1) + [(0, 1)])
    return dnp.where(eye, d[..., None, :], dnp.where(below, padded[..., None, :], 0))


@fused(static=("first", "last"))
def _eigenvectors(d: Any, e: Any, first: int, last: int) -> tuple[Any, Any]:
    v, w = lax.linalg.eigh(_dense(d, e), symmetrize_input=False)
    return w[..., first : last + 1], v[..., first : last + 1]


@fused(static=("first", "last", "tol"))
def _eigenvalues(d: Any, e: Any, first: int, last: int, tol: float | None) -> Any:
    return _bisected(d, e, first, last, tol)


@partial(custom_jvp, nondiff_argnums=(2, 3, 4))
def _bisected(d: Any, e: Any, first: int, last: int, tol: float | None) -> Any:
    """Each eigenvalue by halving an interval: Sturm's sequence counts those below its middle."""
    d, squares = dnp.real(d), dnp.abs(e) ** 2
    info = dtypes.finfo(d.dtype)
    low, high = _bounds(d, dnp.sqrt(squares))
    width = dnp.maximum(
        dnp.maximum(dnp.abs(low), dnp.abs(high)) * float(info.eps), float(info.tiny)
    )
    limit = dnp.max(width, initial=0) if tol is None else dnp.asarray(tol, d.dtype)
    least = dnp.maximum(dnp.max(squares, axis=-1, initial=0) * float(info.tiny), float(info.tiny))
    wanted = np.arange(first, last + 1, dtype=np.int32)
    shape = (*d.shape[:-1], len(wanted))
    low, high = (dnp.broadcast_to(x[..., None], shape) for x in (low, high))

    def unfinished(state: tuple[Any, ...]) -> Any:
        low, high, i = state
        return (i < info.nmant + 64) & dnp.any(high - low > limit)

    def halve(state: tuple[Any, ...]) -> tuple[Any, ...]:
        low, high, i = state
        middle = low + (high - low) / 2
        below = _count(d, squares, middle, least) > wanted
        return dnp.where(below, low, middle), dnp.where(below, middle, high), i + 1

    low, high, _ = lax.while_loop(unfinished, halve, (low, high, np.int32(0)))
    return low + (high - low) / 2


@_bisected.defjvp
def _(first: int, last: int, tol: Any, primals: Any, tangents: Any) -> tuple[Any, Any]:
    # dw_j = v_jᴴ dT v_j.
    _, v = _eigenvectors(*primals, first=first, last=last)
    change = _dense(*tangents)
    change = dnp.tril(change, -1) + adjoint(dnp.tril(change, -1)) + dnp.real(change) * np.eye(
        change.shape[-1], dtype=bool)  # fmt: skip
    slope = dnp.real(dnp.sum(dnp.conj(v) * dnp.matmul(change, v), axis=-2))
    return _bisected(*primals, first, last, tol), slope


def _bounds(d: Any, e: Any) -> tuple[Any, Any]:
    """An interval with all eigenvalues (Gershgorin), a little wider."""
    edge = [(0, 0)] * (e.ndim - 1)
    radii = dnp.pad(e, [*edge, (0, 1)]) + dnp.pad(e, [*edge, (1, 0)])
    low, high = dnp.min(d - radii, axis=-1), dnp.max(d + radii, axis=-1)
    info = dtypes.finfo(d.dtype)
    slack = dnp.maximum(dnp.abs(low), dnp.abs(high)) * (float(info.eps) * 4 * d.shape[-1])
    return low - slack - float(info.tiny), high + slack + float(info.tiny)


def _count(d: Any, squares: Any, x: Any, least: Any) -> Any:
    """The number of eigenvalues below ``x``: that of negative pivots of ``T - x``."""

    def step(state: tuple[Any, Any], row: tuple[Any, Any]) -> tuple[Any, None]:
        pivot, count = state
        middle, square = row
        pivot = middle[..., None] - x - square[..., None] / pivot
        pivot = dnp.where(dnp.abs(pivot) < least[..., None], -least[..., None], pivot)
        return (pivot, count + dnp.astype(pivot < 0, np.int32)), None

    rows = dnp.moveaxis(d, -1, 0)
    before = dnp.concatenate([dnp.zeros((1, *d.shape[:-1]), d.dtype), dnp.moveaxis(squares, -1, 0)])
    start = (dnp.ones(x.shape, x.dtype), dnp.zeros(x.shape, np.int32))
    return lax.scan(step, start, (rows, before))[0][1]
