"""Determinants, powers and chains of matrices."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_custom_rules import custom_jvp
from dovetail_lax.errors import ShapeError

from ..contraction.matmul import matmul
from ..contraction.products import dot
from ..creation.arrays import as_array
from ..creation.matrices import diagonal, eye
from ..fusion import fused, one_call
from ..operands import Array, ArrayLike, integer
from ..operations import filled, number, select
from ..promotion import broadcast, convert
from .decompositions import square, svd, transposed
from .solving import inv


class SlogdetResult(NamedTuple):
    """The sign (or phase) of a determinant, and the logarithm of its absolute value."""

    sign: Any
    logabsdet: Any


@fused()
def _det(a: Any) -> Any:
    return _by_formula(a) if a.shape[-1] in (2, 3) else _smooth_det(a)


def _by_formula(a: Any) -> Any:
    """The determinant of two or three rows, for which a call of LAPACK takes longer.

    Differentiated by the rules of its operations, it has derivatives of all orders at singular
    matrices.
    """
    *above, upper, lower = [_columns_of(a, i) for i in range(a.shape[-1])]
    if not above:
        return _minor(upper, lower, 0, 1)
    minors = [_minor(upper, lower, i, j) for i, j in ((1, 2), (2, 0), (0, 1))]
    parts = [lax.mul(x, m) for x, m in zip(above[0], minors)]
    return lax.add(lax.add(parts[0], parts[1]), parts[2])


def _columns_of(a: Any, row: int) -> list[Any]:
    one = lax.index_in_dim(a, row, a.ndim - 2, keepdims=False)
    return [lax.index_in_dim(one, j, one.ndim - 1, keepdims=False) for j in range(a.shape[-1])]


def _minor(upper: list[Any], lower: list[Any], i: int, j: int) -> Any:
    return lax.sub(lax.mul(upper[i], lower[j]), lax.mul(upper[j], lower[i]))


@custom_jvp
def _smooth_det(a: Any) -> Any:
    """The determinant, a polynomial of the elements, with its derivatives at singular matrices.

    The factors of the decomposition that it is computed by have none there.
    """
    factors, pivots, _ = lax.linalg.lu(a)
    entries = diagonal(factors, 0, -2, -1)
    out = lax.reduce_prod(entries, (entries.ndim - 1,))
    return select(_odd(pivots), lax.neg(out), out)


@_smooth_det.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    (a,), (da,) = primals, tangents
    return _smooth_det(a), _inner(_cofactors(a), da)


def _inner(x: Any, y: Any) -> Any:
    """The sum of products of the elements of matrices."""
    return lax.reduce_sum(lax.mul(x, y), (x.ndim - 2, x.ndim - 1))


@custom_jvp
def _cofactors(a: Any) -> Any:
    """The derivative of the determinant by each element.

    That is ``det(a)`` times the transposed inverse; at singular matrices, it is computed from
    singular values. Matrices are scaled before, so that determinants neither overflow nor vanish.
    """
    a, power = lax.scaled_matrices(a)
    singular, regular = _parted(a)
    regular_case = lax.mul(_over_matrices(_smooth_det(regular), a), transposed(inv(regular)))
    result = lax.cond(
        lax.reduce_or(singular, range(singular.ndim)),
        lambda: select(_over_matrices(singular, a), _cofactors_by_values(a), regular_case),
        lambda: regular_case,
    )
    return _scaled_back(result, power, a.shape[-1] - 1)


def _scaled_back(x: Any, power: Any, degree: int) -> Any:
    """A homogeneous polynomial of matrices, from its value for matrices times powers of two.

    It is divided by the power in two steps: one alone could overflow where the result does not.
    """
    for part in (degree // 2, degree - degree // 2):
        x = lax.mul(x, _over_matrices(lax.integer_pow(power, -part), x))
    return x


@_cofactors.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # With C = det(A) A⁻ᵀ: dC = (<C, dA> C - C dAᵀ C) / det(A), where that can be divided by.
    (a,), (da,) = primals, tangents
    out = _cofactors(a)
    a, power = lax.scaled_matrices(a)
    singular, regular = _parted(a)
    result = _cofactors(regular)
    turned = matmul(matmul(result, transposed(da)), result)
    change = lax.sub(lax.mul(_over_matrices(_inner(result, da), a), result), turned)
    regular_case = lax.div(change, _over_matrices(_smooth_det(regular), a))
    slope = lax.cond(
        lax.reduce_or(singular, range(singular.ndim)),
        lambda: select(_over_matrices(singular, a), _slope_of_cofactors(a, da), regular_case),
        lambda: regular_case,
    )
    return out, _scaled_back(slope, power, a.shape[-1] - 2)


def _parted(a: Any) -> tuple[Any, Any]:
    """A mask of the singular matrices, and the matrices with these replaced by the identity."""
    out = lax.stop_gradient(_smooth_det(a))
    singular = lax.eq(out, number(out, 0))
    return singular, select(_over_matrices(singular, a), _identity(a), a)


def _identity(a: Any) -> Any:
    return broadcast(convert(eye(a.shape[-1]), a.dtype), a.shape)


def _over_matrices(x: Any, a: Any) -> Any:
    """One value for each matrix in the shape of the matrices."""
    return lax.broadcast_in_dim(x, a.shape, range(a.ndim - 2))


def _cofactors_by_values(a: Any) -> Any:
    # A = U S V with unitary U and V: the cofactors are det(U) det(V) times conj(U) C(S) conj(V),
    # and those of the diagonal S are the products of all but one of its elements.
    u, s, v = svd(a)
    n = s.shape[-1]
    shape = (*s.shape, n)
    same = lax.eq(*(lax.broadcasted_iota(np.int32, shape, d) for d in (s.ndim - 1, s.ndim)))
    others = select(same, number(s, 1), _rows_of(s, shape))
    products = lax.reduce_prod(others, (s.ndim,))
    scale = lax.mul(_smooth_det(u), _smooth_det(v))
    left, right = (lax.conj(x) if x.dtype.kind == "c" else x for x in (u, v))
    columns = lax.mul(left, _rows_of(convert(products, a.dtype), a.shape))
    return lax.mul(_over_matrices(scale, a), matmul(columns, right))


def _rows_of(s: Any, shape: tuple[int, ...]) -> Any:
    """Vectors as the rows of matrices, repeated."""
    n = len(shape)
    return lax.broadcast_in_dim(s, shape, (*range(n - 2), n - 1))


def _slope_of_cofactors(a: Any, da: Any) -> Any:
    """The derivative of cofactors in the direction ``da``: the adjugate is a polynomial of ``a``.

    By Faddeev and LeVerrier: ``M₁ = 1``, ``Mₖ₊₁ = A Mₖ - tr(A Mₖ) / k``, and the adjugate is
    ``Mₙ`` up to its sign.
    """
    one = _identity(a)
    m, dm = one, filled(a, a.shape, 0)
    for k in range(1, a.shape[-1]):
        dm = lax.add(matmul(da, m), matmul(a, dm))
        m = matmul(a, m)
        m, dm = (lax.sub(x, lax.mul(_over_matrices(_trace_part(x, k), a), one)) for x in (m, dm))
    return transposed(dm if a.shape[-1] % 2 else lax.neg(dm))


def _trace_part(x: Any, k: int) -> Any:
    trace = lax.reduce_sum(diagonal(x, 0, -2, -1), (x.ndim - 2,))
    return lax.div(trace, number(trace, k))


def _odd(pivots: Any) -> Any:
    """True where the number of row exchanges of a factorization is odd."""
    last = pivots.ndim - 1
    moved = lax.ne(pivots, lax.broadcasted_iota(pivots.dtype, pivots.shape, last))
    count = lax.reduce_sum(lax.convert_element_type(moved, pivots.dtype), (last,))
    return lax.eq(lax.rem(count, number(count, 2)), number(count, 1))


@one_call(shared=True)
def det(a: ArrayLike) -> Array:
    """The determinant of square matrices.

    Raises:
        ValueError: they are not square.
    """
    x = square("det", a)
    if x.dtype.itemsize == 2:
        return convert(_det(convert(x, np.dtype(np.float32))), x.dtype)
    return _det(x)


@fused(shared=True)
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


@fused(shared=True)
def _slogdet_qr(a: Any) -> tuple[Any, Any]:
    # The triangular factor has the absolute value; the orthogonal one has determinant 1 or -1.
    q, r = lax.linalg.qr(a)
    return _sign_and_log(diagonal(r, 0, -2, -1), lax.lt(_det(q), number(q, 0)))


@reword_errors
@one_call("method", shared=True)
def slogdet(a: ArrayLike, *, method: str | None = None) -> SlogdetResult:
    """Sign and logarithm of the absolute value of determinants.

    Args:
        method: ``"lu"`` (the default) or ``"qr"``, which is for real matrices.

    Raises:
        ValueError: the matrices are not square, or the method is unknown.
    """
    x = square("slogdet", a)
    if method not in (None, "lu", "qr"):
        raise ValueError(f"slogdet: method must be 'lu' or 'qr', got {method!r}{here()}")
    if method == "qr" and x.dtype.kind == "c":
        raise ValueError(f"slogdet: method 'qr' is for real matrices{here()}")
    wide = convert(x, np.dtype(np.float32)) if x.dtype.itemsize == 2 else x
    result = _slogdet_qr(wide) if method == "qr" else _slogdet(wide)
    sign, logs = result
    real = np.finfo(x.dtype).dtype if x.dtype.kind == "c" else x.dtype
    return SlogdetResult(convert(sign, x.dtype), convert(logs, real))


@reword_errors
@one_call("n")
def matrix_power(a: ArrayLike, n: int) -> Array:
    """Square matrices to an integer power; negative ones invert.

    Raises:
        ValueError: the matrices are not square.
    """
    x = as_array("matrix_power", a)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ShapeError(f"matrix_power takes square matrices, got shape {x.shape}{here()}")
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


@reword_errors
def multi_dot(arrays: Any, *, precision: Any = None) -> Array:
    """The product of several matrices in the order that needs the fewest multiplications.

    Raises:
        ValueError: there are less than two, or their shapes do not fit.
    """
    items = [as_array("multi_dot", x, i) for i, x in enumerate(arrays)]
    if len(items) < 2:
        raise ValueError(f"multi_dot takes at least two arrays, got {len(items)}{here()}")
    vectors = items[0].ndim == 1, items[-1].ndim == 1
    if vectors[0]:
        items[0] = lax.expand_dims(items[0], (0,))
    if vectors[1]:
        items[-1] = lax.expand_dims(items[-1], (1,))
    if any(x.ndim != 2 for x in items):
        raise ValueError(f"multi_dot takes matrices, with vectors at the ends only{here()}")
    if any(x.shape[1] != y.shape[0] for x, y in pairwise(items)):
        shapes = ", ".join(str(x.shape) for x in items)
        raise ValueError(f"multi_dot got matrices of shapes {shapes}, which do not fit{here()}")
    sizes = [items[0].shape[0], *(x.shape[1] for x in items)]
    out = _chain(items, _splits(sizes), 0, len(items) - 1, precision)
    removed = [i for i, v in enumerate(vectors) if v]
    return lax.squeeze(out, removed) if removed else out


def _splits(sizes: list[int]) -> dict[tuple[int, int], int]:
    """The index at which to split each part of the chain, by dynamic programming over lengths."""
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
