"""The Sylvester equation, and equations of triangular matrices that are solved by columns."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_custom_rules import custom_linear_solve
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact_arrays, one_of
from .arguments import adjoint, as_complex, identity_like, matmul, square


def by_columns(right_side: Any, shape: tuple[int, ...], dtype: Any) -> Any:
    """The matrix whose columns are computed one after the other.

    Args:
        right_side: ``right_side(x, j, unit)`` is the triangular matrix and the right sides whose
            solution is column ``j``; ``x`` has the columns before, and ``unit`` a one at ``j``.
    """
    n = shape[-1]

    def column(x: Any, j: Any) -> tuple[Any, None]:
        unit = dnp.astype(dnp.arange(n, dtype=np.int32) == j, dtype)[:, None]
        matrix, right = right_side(x, j, unit)
        result = lax.linalg.triangular_solve(matrix, right, left_side=True, lower=False)
        return x + matmul(result, dnp.matrix_transpose(unit)), None

    start = dnp.zeros(shape, dtype)
    return lax.scan(column, start, np.arange(n, dtype=np.int32))[0]


def shifted(r: Any, by: Any, until: Any = None) -> Any:
    """``R`` with ``by`` added to its diagonal; from row and column ``until`` on the identity.

    Zeros on the diagonal become ones: then the equation has no unique solution.
    """
    eye = identity_like(r)
    x = r + by[..., None, None] * eye
    if until is not None:
        leading = dnp.arange(r.shape[-1], dtype=np.int32) < until
        x = dnp.where(leading[:, None] & leading[None, :], x, eye)
    return dnp.where((x == 0) & (eye == 1), 1, x)


def triangular_sylvester(r: Any, s: Any, f: Any) -> Any:
    """``Y`` with ``R Y + Y S = F`` for upper triangular ``R`` and ``S``.

    Of column ``j``: ``(R + s_jj) y_j = f_j - Σ s_kj y_k``, with the columns ``k`` before.
    """

    def equation(y: Any, j: Any, unit: Any) -> tuple[Any, Any]:
        own = matmul(s, unit)
        pivot = matmul(dnp.matrix_transpose(unit), own)[..., 0, 0]
        return r + pivot[..., None, None] * identity_like(r), matmul(f, unit) - matmul(y, own)

    return by_columns(equation, f.shape, f.dtype)


@reword_errors
def solve_sylvester(
    A: ArrayLike, B: ArrayLike, C: ArrayLike, *, method: str = "schur", tol: float = 1e-8
) -> Array:
    """``X`` with ``A X + X B = C``; NaN where there is no unique solution.

    It is differentiable to any order, by the equation itself.

    Args:
        A: matrices of shape ``(..., m, m)``; ``B``: ``(..., n, n)``; ``C``: ``(..., m, n)``.
        method: ``"schur"``: by Schur forms (Bartels and Stewart), on the CPU; ``"eigen"``: by
            eigenvectors, which is less accurate where these are almost dependent.
        tol: the least sum of an eigenvalue of ``A`` and one of ``B`` for which there is a solution.

    Raises:
        ValueError: shapes do not fit, or the method is something else.
    """
    one_of("solve_sylvester", "method", method, ("schur", "eigen"))
    a, b, c = inexact_arrays("solve_sylvester", A, B, C)
    square("solve_sylvester", a, b)
    try:
        fits = c.shape[-2:] == (a.shape[-1], b.shape[-1])
        batch = dnp.broadcast_shapes(a.shape[:-2], b.shape[:-2], c.shape[:-2]) if fits else None
    except ValueError:
        batch = None
    if batch is None:
        raise ValueError(
            f"solve_sylvester: shapes {a.shape}, {b.shape} and {c.shape} do not fit{here()}: C has "
            "as many rows as A and as many columns as B."
        )
    return _solve(a, b, c, batch=batch, eigen=method == "eigen", tol=float(tol))


@fused(static=("batch", "eigen", "tol"))
def _solve(a: Any, b: Any, c: Any, batch: tuple[int, ...], eigen: bool, tol: float) -> Any:
    a, b, c = (dnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b, c))
    if 0 in c.shape:
        return c
    solve = _by_eigenvectors if eigen else _by_schur_forms

    def product(x: Any) -> Any:
        return matmul(a, x) + matmul(x, b)

    def inverse(_: Any, right: Any) -> Any:
        return solve(a, b, right, tol)

    def transposed(_: Any, right: Any) -> Any:
        return solve(dnp.matrix_transpose(a), dnp.matrix_transpose(b), right, tol)

    return custom_linear_solve(product, c, inverse, transposed)


def _by_schur_forms(a: Any, b: Any, c: Any, tol: float) -> Any:
    # With A = U R Uᴴ and B = V S Vᴴ: R Y + Y S = Uᴴ C V for Y = Uᴴ X V.
    (r, u), (s, v) = (lax.linalg.schur(as_complex(x)) for x in (a, b))
    y = triangular_sylvester(r, s, matmul(adjoint(u), matmul(as_complex(c), v)))
    x = _nan_where_singular(
        matmul(u, matmul(y, adjoint(v))), _sums(_diagonal(r), _diagonal(s)), tol
    )
    return x if c.dtype.kind == "c" else dnp.real(x)


def _by_eigenvectors(a: Any, b: Any, c: Any, tol: float) -> Any:
    (p, u), (q, v) = (
        lax.linalg.eig(as_complex(x), compute_left_eigenvectors=False) for x in (a, b)
    )
    sums = _sums(p, q)
    y = dnp.linalg.solve(u, matmul(as_complex(c), v)) / dnp.where(sums == 0, 1, sums)
    # X = U Y V⁻¹, that is Vᵀ Xᵀ = (U Y)ᵀ.
    turned = dnp.matrix_transpose(matmul(u, y))
    x = dnp.matrix_transpose(dnp.linalg.solve(dnp.matrix_transpose(v), turned))
    x = _nan_where_singular(x, sums, tol)
    return x if c.dtype.kind == "c" else dnp.real(x)


def _diagonal(x: Any) -> Any:
    return dnp.diagonal(x, 0, -2, -1)


def _sums(p: Any, q: Any) -> Any:
    return p[..., :, None] + q[..., None, :]


def _nan_where_singular(x: Any, sums: Any, tol: float) -> Any:
    singular = dnp.any(dnp.abs(sums) < tol, axis=(-2, -1))
    return dnp.where(singular[..., None, None], dnp.nan, x)
