"""Polar decomposition by Halley's iteration with dynamic weights, in array operations.

Y. Nakatsukasa, Z. Bai, F. Gygi, "Optimizing Halley's iteration for computing the matrix polar
decomposition" (2010); Y. Nakatsukasa, N. Higham, "Stable and efficient spectral divide and conquer
algorithms" (2013).
"""

from __future__ import annotations

from functools import cache
from math import sqrt
from typing import Any

import numpy as np

from dovetail_core.base import arguments
from dovetail_core.base.foreign import names_itself

from ..dtypes import finfo
from ..functions._args import Array, ArrayLike, check
from ..functions.control_flow import while_loop
from ..numerics.matrices import adjoint, identity, matmul
from ..primitives._elementwise import place
from ..primitives.arithmetic import abs_p, add_p, div_p, mul_p, sqrt_p, sub_p
from ..primitives.discrete import and_p, eq_p, le_p, lt_p, not_p
from ..primitives.factorizations import INDEX, cholesky_p, matrix_type, qr_p, triangular_solve_p
from ..primitives.moves import along, full, joined, spread
from ..primitives.reductions import reduce_and_p, reduce_max_p, reduce_sum_p
from ..primitives.shape import dynamic_slice_p, reshape_p
from ..primitives.values import convert_element_type_p, iota_p, real_part, select_n_p
from ..scalars import scalar
from .factorizations import symmetrized


@names_itself
def qdwh(
    x: ArrayLike,
    *,
    is_hermitian: bool = False,
    max_iterations: int | None = None,
    eps: float | None = None,
    dynamic_shape: tuple[Any, Any] | None = None,
) -> tuple[Array, Array, Array, Array]:
    """The polar decomposition ``x = U H``: orthonormal columns, and a positive semidefinite matrix.

    Args:
        x: matrices of full rank of shape ``(..., m, n)`` with ``m >= n``.
        is_hermitian: accepted for compatibility.
        max_iterations: after how many iterations to end at the latest; 10 by default.
        eps: iterations end when one changes ``U`` by less than ``(4 eps)^(1/3)`` of it; by default
            the precision of the element type.
        dynamic_shape: ``(rows, columns)`` of the part of ``x`` that counts, perhaps traced; the
            rest counts as zero.

    Returns: ``(U, H, iterations, converged)``, the last one a boolean for each matrix.

    Raises:
        TypeError: the element type is not a float or complex type of 32 or 64 bits.
        ValueError: ``x`` is no batch of matrices, or these have more columns than rows.
    """
    aval = check("linalg.qdwh", x)
    _, m, n = matrix_type("qdwh", aval)
    if m < n:
        raise ValueError(
            f"lax.linalg.qdwh got {aval.str_short()}{place()}: matrices must have at least as many "
            "rows as columns. Decompose the adjoint: if it is U H, the matrix is H Uᴴ."
        )
    most = 10 if max_iterations is None else arguments.integer("max_iterations", max_iterations)
    precision = float(finfo(aval.dtype).eps) if eps is None else float(eps)
    x = convert_element_type_p.bind(x, new_dtype=aval.dtype, weak_type=False)
    if dynamic_shape is not None:
        x = _part(x, dynamic_shape)
    u, count, converged = _orthonormal(x, most, precision)
    return u, symmetrized(matmul(adjoint(u), x)), count, converged


def _part(x: Any, sizes: tuple[Any, Any]) -> Any:
    """Zero in rows and columns beyond."""
    for axis, size in zip((-2, -1), sizes):
        places = iota_p.bind(dtype=INDEX, shape=x.shape, dimension=len(x.shape) + axis)
        size = convert_element_type_p.bind(size, new_dtype=INDEX, weak_type=False)
        inside = lt_p.bind(places, spread(size, x.shape))
        x = select_n_p.bind(inside, scalar(0, x.dtype), x)
    return x


@cache
def _weights(eps: float) -> Any:
    """The weights ``a, b, c`` of each iteration, for singular values from ``eps`` to 1 on.

    They are those for which the least singular value becomes the greatest; once all are 1 they do
    not change.
    """
    low, found = eps, []
    while not found or abs(low - 1) > eps:
        square = low * low
        d = (4 * (1 - square) / square**2) ** (1 / 3)
        root = sqrt(1 + d)
        a = root + sqrt(8 - 4 * d + 8 * (2 - square) / (square * root)) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        found.append((a, b, c))
        low = min(low * (a + b * square) / (1 + c * square), 1.0)
    return np.array([*found, (3.0, 1.0, 3.0)])


def _orthonormal(x: Any, most: int, eps: float) -> tuple[Any, Any, Any]:
    real, batch = real_part(x.dtype), x.shape[:-2]
    unconverged = full(batch, False, np.dtype(bool))
    if 0 in x.shape:
        return x, _scalar_of(0, INDEX), full(batch, True, np.dtype(bool))
    table = _weights(float(finfo(x.dtype).eps))
    tolerance = (4 * eps) ** (1 / 3)
    # Early iterations, of great weights, by QR: the products of the others would lose digits.
    early = min(int((table[:, 2] > 100).sum()), most)
    u = div_p.bind(x, _spread_norm(_norm_bound(x), x))
    for a, b, c in table[:early].tolist():
        u = _by_qr(u, a, b, c)

    def unfinished(state: tuple[Any, ...]) -> Any:
        _, k, done = state
        every = reduce_and_p.bind(done, axes=tuple(range(len(batch))))
        return and_p.bind(lt_p.bind(k, np.int32(most)), not_p.bind(every))

    rest = table[early:] if early < len(table) else table[-1:]

    def iterate(state: tuple[Any, ...]) -> tuple[Any, ...]:
        u, k, _ = state
        a, b, c = _row(rest.astype(real), sub_p.bind(k, np.int32(early)))
        new = _by_cholesky(u, a, b, c)
        near = le_p.bind(_norm(sub_p.bind(new, u)), mul_p.bind(_norm(new), scalar(tolerance, real)))
        return new, add_p.bind(k, np.int32(1)), near

    u, count, converged = while_loop(unfinished, iterate, (u, np.int32(early), unconverged))
    # One step of Newton and Schulz takes what rounding has left.
    cubed = matmul(u, matmul(adjoint(u), u))
    u = sub_p.bind(mul_p.bind(u, scalar(1.5, u.dtype)), mul_p.bind(cubed, scalar(0.5, u.dtype)))
    return u, count, converged


def _scalar_of(value: int, dtype: Any) -> Any:
    """A number as an array, also where it is evaluated."""
    return convert_element_type_p.bind(value, new_dtype=dtype, weak_type=False)


def _row(table: Any, k: Any) -> list[Any]:
    """Row ``k`` of a constant table, or its last one."""
    row = dynamic_slice_p.bind(table, k, np.int32(0), slice_sizes=(1, 3))
    return [reshape_p.bind(along(row, 1, i, i + 1), new_sizes=()) for i in range(3)]


def _norm_bound(x: Any) -> Any:
    """A bound of the spectral norm: the geometric mean of those by rows and by columns."""
    sizes, last = abs_p.bind(x), len(x.shape) - 1
    rows, columns = (reduce_sum_p.bind(sizes, axes=(i,)) for i in (last, last - 1))
    bounds = [sqrt_p.bind(reduce_max_p.bind(v, axes=(last - 1,))) for v in (rows, columns)]
    norm = mul_p.bind(*bounds)
    none = eq_p.bind(norm, scalar(0.0, norm.dtype))
    return select_n_p.bind(none, norm, scalar(1.0, norm.dtype))


def _norm(x: Any) -> Any:
    """The Frobenius norm, of matrices whose elements are about 1."""
    size = abs_p.bind(x)
    axes = (len(x.shape) - 2, len(x.shape) - 1)
    return sqrt_p.bind(reduce_sum_p.bind(mul_p.bind(size, size), axes=axes))


def _spread_norm(norm: Any, x: Any) -> Any:
    wide = spread(norm, x.shape, tuple(range(len(x.shape) - 2)))
    return convert_element_type_p.bind(wide, new_dtype=x.dtype, weak_type=False)


def _by_qr(u: Any, a: float, b: float, c: float) -> Any:
    # With the QR decomposition of (√c U; 1): U ← b/c U + (a - b/c) / √c Q₁ Q₂ᴴ.
    last, n = len(u.shape) - 1, u.shape[-1]
    eye = identity((*u.shape[:-2], n, n), u.dtype)
    stacked = joined([mul_p.bind(u, scalar(sqrt(c), u.dtype)), eye], last - 1)
    q = qr_p.bind(stacked, pivoting=False, full_matrices=False)[0]
    m = u.shape[-2]
    product = matmul(along(q, last - 1, 0, m), adjoint(along(q, last - 1, m, m + n)))
    weighted = mul_p.bind(product, scalar((a - b / c) / sqrt(c), u.dtype))
    return add_p.bind(mul_p.bind(u, scalar(b / c, u.dtype)), weighted)


def _by_cholesky(u: Any, a: Any, b: Any, c: Any) -> Any:
    # With Z = 1 + c Uᴴ U: U ← b/c U + (a - b/c) U Z⁻¹.
    eye = identity((*u.shape[:-2], u.shape[-1], u.shape[-1]), u.dtype)
    ratio = div_p.bind(b, c)
    kept, weight, c = (
        convert_element_type_p.bind(v, new_dtype=u.dtype, weak_type=False)
        for v in (ratio, sub_p.bind(a, ratio), c)
    )
    square = matmul(adjoint(u), u)
    z = add_p.bind(eye, mul_p.bind(square, spread(c, square.shape)))
    factor = cholesky_p.bind(z)
    flags = {"left_side": False, "lower": True, "unit_diagonal": False}
    x = triangular_solve_p.bind(factor, u, transpose_a=True, conjugate_a=True, **flags)
    x = triangular_solve_p.bind(factor, x, transpose_a=False, conjugate_a=False, **flags)
    return add_p.bind(mul_p.bind(u, spread(kept, u.shape)), mul_p.bind(x, spread(weight, u.shape)))
