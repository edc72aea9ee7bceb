"""Polar decomposition by Halley's iteration with dynamic weights, in array operations.

Y. Nakatsukasa, Z. Bai, F. Gygi, "Optimizing Halley's iteration for computing the matrix polar
decomposition" (2010); Y. Nakatsukasa, N. Higham, "Stable and efficient spectral divide and conquer
algorithms" (2013).
"""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from dovetail_core import cached

from ..dtypes import finfo
from ..functions.control_flow import while_loop
from ..primitives.arithmetic import abs_p, add_p, div_p, mul_p, sqrt_p, sub_p
from ..primitives.discrete import and_p, eq_p, le_p, lt_p, not_p
from ..primitives.factorizations import cholesky_p, qr_p, triangular_solve_p
from ..primitives.moves import along, full, joined, spread
from ..primitives.reductions import reduce_and_p, reduce_max_p, reduce_sum_p
from ..primitives.shape import dynamic_slice_p, reshape_p
from ..primitives.values import convert_element_type_p, real_part, select_n_p
from ..scalars import scalar
from .matrices import adjoint, identity, matmul


@cached
def _weights(eps: float) -> Any:
    """The weights ``a, b, c`` of each iteration, for singular values from ``eps`` to 1 on.

    They are those for which the least singular value becomes the greatest; once all are 1 they do
    not change.
    """
    low, result = eps, []
    while not result or abs(low - 1) > eps:
        square = low * low
        d = (4 * (1 - square) / square**2) ** (1 / 3)
        root = sqrt(1 + d)
        a = root + sqrt(8 - 4 * d + 8 * (2 - square) / (square * root)) / 2
        b = (a - 1) ** 2 / 4
        c = a + b - 1
        result.append((a, b, c))
        low = min(low * (a + b * square) / (1 + c * square), 1.0)
    return np.array([*result, (3.0, 1.0, 3.0)])


def orthonormal(x: Any, max_iterations: int, eps: float) -> tuple[Any, Any, Any]:
    """``U`` of ``x = U H``, how many iterations were made, and for each matrix whether they ended.

    Args:
        x: matrices with at least as many rows as columns.
        eps: they end when one changes ``U`` by less than ``(4 eps)^(1/3)`` of it.
    """
    real, batch, most = real_part(x.dtype), x.shape[:-2], max_iterations
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

    start = (u, np.int32(early), full(batch, False, np.dtype(bool)))
    u, count, converged = while_loop(unfinished, iterate, start)
    # One step of Newton and Schulz takes what rounding has left.
    cubed = matmul(u, matmul(adjoint(u), u))
    u = sub_p.bind(mul_p.bind(u, scalar(1.5, u.dtype)), mul_p.bind(cubed, scalar(0.5, u.dtype)))
    return u, count, converged


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
