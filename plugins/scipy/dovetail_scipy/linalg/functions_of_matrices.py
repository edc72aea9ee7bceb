"""Functions of matrices by the Schur form: square roots, and functions that the user gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import names_itself
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_custom_rules import custom_jvp
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes

from ..inputs import Array, ArrayLike
from .arguments import adjoint, as_complex, matmul, square
from .schur_forms import rsf2csf
from .sylvester import solve_sylvester
from .triangular import by_columns, shifted


@names_itself
@one_call("blocksize")
def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of matrices, as complex numbers; on the CPU.

    Its eigenvalues have no negative real part. Singular matrices may have none: then it is not
    what its square says.

    Args:
        A: matrices of shape ``(..., n, n)``.
        blocksize: 1; other algorithms are not offered.

    Raises:
        NotImplementedError: ``blocksize`` is not 1.
        ValueError: the matrices are not square.
    """
    if blocksize != 1:
        raise NotImplementedError(f"sqrtm: only blocksize=1 is supported{here()}. Leave it out.")
    a = square("sqrtm", A)[0]
    if a.dtype.itemsize < 4:
        a = lax.convert_element_type(a, np.float32)
    return _sqrtm(a)


@fused()
def _sqrtm(a: Any) -> Any:
    return _root(a)


def _complex_schur(a: Any) -> tuple[Any, Any]:
    """Of real matrices by their real form, so that real eigenvalues have no imaginary part at all.

    A rounding of it would choose the branch of a root.
    """
    t, z = lax.linalg.schur(a)
    return (t, z) if a.dtype.kind == "c" else rsf2csf(t, z)


@custom_jvp
def _root(a: Any) -> Any:
    """By Björck and Hammarling, by columns: ``(R₁₁ + r_jj) r_j = t_j`` above the diagonal."""
    if 0 in a.shape:
        return as_complex(a)
    t, z = _complex_schur(a)
    roots = dnp.sqrt(dnp.diagonal(t, 0, -2, -1))

    def equation(r: Any, j: Any, unit: Any) -> tuple[Any, Any]:
        own = matmul(roots[..., None, :], unit)[..., 0, 0]
        above = dnp.arange(t.shape[-1]) < j
        right = dnp.where(above[:, None], matmul(t, unit), own[..., None, None] * unit)
        return shifted(r, own, j), right

    r = by_columns(equation, t.shape, t.dtype)
    return matmul(z, matmul(r, adjoint(z)))


@_root.defjvp
def _(primals: Any, tangents: Any) -> tuple[Any, Any]:
    # From X X = A: dX X + X dX = dA.
    x = _root(primals[0])
    return x, solve_sylvester(x, x, as_complex(tangents[0]), tol=0.0)


@names_itself
def funm(A: ArrayLike, func: Callable[[Any], Any], disp: bool = True) -> Any:
    """A function of matrices, by its values at their eigenvalues (Parlett's recurrence).

    It runs on the CPU. It is exact where eigenvalues are far apart. It has derivatives for complex
    matrices of which no two eigenvalues are equal; convert real ones to complex numbers first.

    Args:
        A: matrices of shape ``(..., n, n)``.
        func: a function of arrays, element by element, which gets eigenvalues as complex numbers.
        disp: False also returns an estimate of the relative error.

    Returns: complex matrices.

    Raises:
        TypeError: ``func`` is not callable.
        ValueError: the matrices are not square.
    """
    if not callable(func):
        raise TypeError(f"funm: func must be a function, got {short_repr(func)}{here()}")
    (a,) = square("funm", A)
    t, z = _complex_schur(a) if a.size else (as_complex(a),) * 2
    f = _parlett(t, func) if a.size else t
    out = matmul(z, matmul(f, adjoint(z)))
    return out if disp else (out, _error(t, out))


def _parlett(t: Any, func: Callable[[Any], Any]) -> Any:
    # F T = T F, of column j above the diagonal: (T₁₁ - t_jj) f_j = F₁₁ t_j - t_j f_jj, and so for
    # a multiple of T, with which products neither overflow nor vanish.
    values = as_complex(dnp.asarray(func(dnp.diagonal(t, 0, -2, -1))))
    t = lax.scaled_matrices(t)[0]
    poles = dnp.diagonal(t, 0, -2, -1)

    def equation(f: Any, j: Any, unit: Any) -> tuple[Any, Any]:
        own, value = (matmul(x[..., None, :], unit)[..., 0, 0] for x in (poles, values))
        above = (dnp.arange(t.shape[-1]) < j)[:, None]
        column = dnp.where(above, matmul(t, unit), 0)
        right = matmul(f, column) - value[..., None, None] * column
        return shifted(t, -own, j), dnp.where(above, right, value[..., None, None] * unit)

    return by_columns(equation, t.shape, t.dtype)


def _error(t: Any, result: Any) -> Any:
    """An estimate of the error that close eigenvalues make."""
    poles = dnp.diagonal(t, 0, -2, -1)
    gaps = dnp.abs(poles[..., :, None] - poles[..., None, :])
    least = dnp.min(dnp.where(gaps == 0, dnp.inf, gaps), axis=(-2, -1), initial=dnp.inf)
    eps = float(dtypes.finfo(t.dtype).eps)
    above = dnp.max(dnp.sum(dnp.abs(dnp.triu(t, 1)), axis=-2), axis=-1, initial=0)
    error = dnp.minimum(1, dnp.maximum(eps, eps / least * above))
    return dnp.where(dnp.any(dnp.isfinite(result), axis=(-2, -1)) | (t.size == 0), error, dnp.inf)
