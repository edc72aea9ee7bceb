"""Schur and Hessenberg forms."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base.foreign import names_itself
from dovetail_core import here
from dovetail_jit import fused, one_call
from dovetail_lax import dtypes

from ..inputs import Array, ArrayLike, one_of
from .arguments import adjoint, as_complex, matmul, square


@names_itself
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


@names_itself
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


@names_itself
def rsf2csf(T: ArrayLike, Z: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The complex Schur form of a matrix, of its real one.

    Args:
        T, Z: what :func:`schur` returns, of shape ``(..., n, n)``.
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
