"""Schur and Hessenberg forms, and functions of matrices by them: roots, functions of users."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_base.source import short_repr
from dovetail_core import here
from dovetail_custom_rules import custom_jvp
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes

from ..arguments import Array, ArrayLike, one_of
from .arguments import adjoint, as_complex, matmul, square
from .sylvester import by_columns, shifted, solve_sylvester


@reword_errors
@one_call("output")
def schur(a: ArrayLike, output: str = "real") -> tuple[Array, Array]:
    """The Schur decomposition ``a = Z T Zᴴ``, on the CPU (see ``lax.linalg.schur``).

    Args:
        a: matrices of shape ``(..., n, n)``.
        output: ``"complex"``: ``T`` is upper triangular; ``"real"``: that of a real matrix is real,
            with blocks of two rows for conjugate eigenvalues.

    Returns: ``(T, Z)``.

    Raises:
        ValueError: the matrices are not square, or ``output`` is something else.
    """
    one_of("schur", "output", output, ("real", "complex"))
    (x,) = square("schur", a)
    t, z = lax.linalg.schur(as_complex(x) if output == "complex" else x)
    return t, z


@reword_errors
def hessenberg(
    a: ArrayLike, *, calc_q: bool = False, overwrite_a: bool = False, check_finite: bool = True
) -> Any:
    """The Hessenberg form ``H`` of ``a = Q H Qᴴ``: zero below the first subdiagonal; on the CPU.

    Args:
        a: matrices of shape ``(..., n, n)``.
        calc_q: return ``(H, Q)``.
        overwrite_a, check_finite: accepted for compatibility.

    Raises:
        ValueError: the matrices are not square.
    """
    return _hessenberg(square("hessenberg", a)[0], calc_q=bool(calc_q))


@fused(static=("calc_q",))
def _hessenberg(a: Any, calc_q: bool) -> Any:
    packed, taus = lax.linalg.hessenberg(a)
    h = dnp.triu(packed, -1)
    if not calc_q:
        return h
    if a.shape[-1] < 2:
        return h, dnp.broadcast_to(dnp.eye(a.shape[-1], dtype=a.dtype), a.shape)
    inner = lax.linalg.householder_product(packed[..., 1:, :-1], taus)
    edge = [(0, 0)] * (a.ndim - 2) + [(1, 0), (1, 0)]
    first = np.zeros(a.shape[-2:], bool)
    first[0, 0] = True
    return h, dnp.pad(inner, edge) + dnp.astype(dnp.asarray(first), a.dtype)


@reword_errors
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form of a matrix, given its real one.

    Args:
        T, Z: the results of :func:`schur`, of shape ``(..., n, n)``.
        check_finite: accepted for compatibility.

    Returns: ``(T, Z)``, complex, with ``T`` upper triangular.

    Raises:
        ValueError: the matrices are not square, or of different sizes.
    """
    t, z = square("rsf2csf", T, Z)
    if t.shape[-1] != z.shape[-1]:
        raise ValueError(
            f"rsf2csf: T and Z must be of one size, got shapes {t.shape} and {z.shape}{here()}"
        )
    return _rsf2csf(t, z)


@fused()
def _rsf2csf(t: Any, z: Any) -> tuple[Any, Any]:
    batch = dnp.broadcast_shapes(t.shape[:-2], z.shape[:-2])
    t, z = (as_complex(dnp.broadcast_to(x, (*batch, *x.shape[-2:]))) for x in (t, z))
    n = t.shape[-1]
    if n < 2 or 0 in t.shape:
        return t, z
    eps = float(dtypes.finfo(t.dtype).eps)

    def rotate(carry: tuple[Any, Any], m: Any) -> tuple[Any, None]:
        # The rotation of rows m - 1 and m that makes their block upper triangular.
        t, z = carry
        rows = lax.dynamic_slice_in_dim(t, m - 1, 2, axis=t.ndim - 2)
        g = _rotation(lax.dynamic_slice_in_dim(rows, m - 1, 2, axis=t.ndim - 1), eps)
        t = lax.dynamic_update_slice_in_dim(t, matmul(g, rows), m - 1, t.ndim - 2)
        columns = lax.dynamic_slice_in_dim(t, m - 1, 2, axis=t.ndim - 1)
        t = lax.dynamic_update_slice_in_dim(t, matmul(columns, adjoint(g)), m - 1, t.ndim - 1)
        columns = lax.dynamic_slice_in_dim(z, m - 1, 2, axis=z.ndim - 1)
        z = lax.dynamic_update_slice_in_dim(z, matmul(columns, adjoint(g)), m - 1, z.ndim - 1)
        return (t, z), None

    (t, z), _ = lax.scan(rotate, (t, z), np.arange(n - 1, 0, -1, dtype=np.int32))
    return dnp.triu(t), z


def _rotation(block: Any, eps: float) -> Any:
    a, b, c, d = (block[..., i, j] for i in (0, 1) for j in (0, 1))
    half = (a - d) / 2
    mu = half + dnp.sqrt(half * half + b * c)  # an eigenvalue, less d
    r = dnp.sqrt(dnp.abs(mu) ** 2 + dnp.abs(c) ** 2)
    coupled = dnp.abs(c) > eps * (dnp.abs(a) + dnp.abs(d))
    safe = dnp.where(coupled, r, 1)
    cos, sin = dnp.where(coupled, mu / safe, 1), dnp.where(coupled, c / safe, 0)
    rows = [dnp.stack([dnp.conj(cos), sin], -1), dnp.stack([-sin, cos], -1)]
    return dnp.stack(rows, -2)


@reword_errors
@one_call("blocksize")
def sqrtm(A: ArrayLike, blocksize: int = 1) -> Array:
    """The principal square root of matrices, as complex numbers; on the CPU.

    Its eigenvalues have no negative real part. Singular matrices may have no square root: then the
    square of the result is another matrix.

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
    """The complex Schur form, for real matrices by their real form.

    Real eigenvalues then have no imaginary part, whose rounding would choose the branch of a root.
    """
    t, z = lax.linalg.schur(a)
    return (t, z) if a.dtype.kind == "c" else rsf2csf(t, z)


@custom_jvp
def _root(a: Any) -> Any:
    """The square root by Björck and Hammarling's method.

    Columns above the diagonal satisfy ``(R₁₁ + r_jj) r_j = t_j``.
    """
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


@reword_errors
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
    """An estimate of the error that close eigenvalues cause."""
    poles = dnp.diagonal(t, 0, -2, -1)
    gaps = dnp.abs(poles[..., :, None] - poles[..., None, :])
    least = dnp.min(dnp.where(gaps == 0, dnp.inf, gaps), axis=(-2, -1), initial=dnp.inf)
    eps = float(dtypes.finfo(t.dtype).eps)
    above = dnp.max(dnp.sum(dnp.abs(dnp.triu(t, 1)), axis=-2), axis=-1, initial=0)
    error = dnp.minimum(1, dnp.maximum(eps, eps / least * above))
    return dnp.where(dnp.any(dnp.isfinite(result), axis=(-2, -1)) | (t.size == 0), error, dnp.inf)
