"""Determinants, powers and chains of matrices."""

from __future__ import annotations

from typing import Any, NamedTuple

import dovetail_lax as lax

from ..contraction.matmul import matmul
from ..contraction.products import dot
from ..creation.arrays import as_array
from ..creation.matrices import diagonal, eye
from ..fusion import fused
from ..operands import Array, ArrayLike, integer
from ..operations import number, select
from ..promotion import broadcast, convert
from .checks import square
from .solving import inv


class SlogdetResult(NamedTuple):
    """The sign (or phase) of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


@fused()
def _det(a: Any) -> Any:
    factors, pivots, _ = lax.linalg.lu(a)
    entries = diagonal(factors, 0, -2, -1)
    out = lax.reduce_prod(entries, (entries.ndim - 1,))
    return select(_odd(pivots), lax.neg(out), out)


def _odd(pivots: Any) -> Any:
    """Whether the row exchanges of a factorization are odd in number."""
    last = pivots.ndim - 1
    moved = lax.ne(pivots, lax.broadcasted_iota(pivots.dtype, pivots.shape, last))
    count = lax.reduce_sum(lax.convert_element_type(moved, pivots.dtype), (last,))
    return lax.eq(lax.rem(count, number(count, 2)), number(count, 1))


def det(a: ArrayLike) -> Array:
    """The determinant of square matrices.

    Raises:
        ValueError: they are not square.
    """
    return _det(square("det", a))


@fused()
def _slogdet(a: Any) -> tuple[Any, Any]:
    factors, pivots, _ = lax.linalg.lu(a)
    return _sign_and_log(diagonal(factors, 0, -2, -1), _odd(pivots))


def _sign_and_log(entries: Any, negative: Any) -> tuple[Any, Any]:
    last = entries.ndim - 1
    sizes = lax.abs(entries)
    zero = lax.reduce_or(lax.eq(sizes, number(sizes, 0)), (last,))
    signs = lax.reduce_prod(lax.sign(entries), (last,))
    signs = select(negative, lax.neg(signs), signs)
    logs = lax.reduce_sum(lax.log(sizes), (last,))
    return select(zero, number(signs, 0), signs), select(zero, number(logs, float("-inf")), logs)


@fused()
def _slogdet_qr(a: Any) -> tuple[Any, Any]:
    # The triangular factor has the absolute value; the orthogonal one has determinant 1 or -1.
    q, r = lax.linalg.qr(a)
    return _sign_and_log(diagonal(r, 0, -2, -1), lax.lt(_det(q), number(q, 0)))


def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Sign and logarithm of the absolute value of determinants.

    Args:
        method: ``"lu"`` (the default) or ``"qr"``, which is for real matrices.

    Raises:
        ValueError: the matrices are not square, or the method is unknown.
    """
    x = square("slogdet", a)
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method must be 'lu' or 'qr', got {method!r}")
    if method == "qr" and x.dtype.kind == "c":
        raise ValueError("slogdet: method 'qr' is for real matrices")
    return SlogdetResult(*(_slogdet_qr(x) if method == "qr" else _slogdet(x)))


def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power; negative ones invert.

    Raises:
        ValueError: the matrices are not square.
    """
    x = as_array("matrix_power", a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"matrix_power takes square matrices, got shape {x.shape}")
    power = integer("matrix_power", "n", n)
    if power < 0:
        x, power = inv(x), -power
    if power == 0:
        return broadcast(convert(eye(x.shape[-1]), x.dtype), x.shape)
    out = None
    while power:
        if power & 1:
            out = x if out is None else matmul(out, x)
        power >>= 1
        x = matmul(x, x) if power else x
    return out


def multi_dot(arrays: Any, *, precision: Any = None) -> Array:
    """The product of several matrices in the order that needs the fewest multiplications.

    Raises:
        ValueError: there are less than two.
    """
    items = [as_array("multi_dot", x, i) for i, x in enumerate(arrays)]
    if len(items) < 2:
        raise ValueError(f"multi_dot takes at least two arrays, got {len(items)}")
    vectors = items[0].ndim == 1, items[-1].ndim == 1
    if vectors[0]:
        items[0] = lax.expand_dims(items[0], (0,))
    if vectors[1]:
        items[-1] = lax.expand_dims(items[-1], (1,))
    if any(x.ndim != 2 for x in items):
        raise ValueError("multi_dot takes matrices, with vectors at the ends only")
    sizes = [items[0].shape[0], *(x.shape[1] for x in items)]
    out = _chain(items, _splits(sizes), 0, len(items) - 1, precision)
    gone = [i for i, v in enumerate(vectors) if v]
    return lax.squeeze(out, gone) if gone else out


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """Where to split each part of the chain, by dynamic programming over its length."""
    n = len(sizes) - 1
    cost = {(i, i): 0 for i in range(n)}
    split: dict[tuple[int, int], int] = {}
    for length in range(1, n):
        for i in range(n - length):
            j = i + length
            options = [(cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1], k)
                       for k in range(i, j)]  # fmt: skip
            cost[i, j], split[i, j] = min(options)
    return split


def _chain(items: list[Any], split: Any, i: int, j: int, precision: Any) -> Any:
    if i == j:
        return items[i]
    k = split[i, j]
    left, right = (_chain(items, split, *ends, precision) for ends in ((i, k), (k + 1, j)))
    return dot(left, right, precision=precision)
