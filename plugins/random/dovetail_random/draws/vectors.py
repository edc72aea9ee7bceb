"""Random vectors and matrices: multivariate normal vectors, orthogonal matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_base import arguments
from dovetail_core import here, type_shardings

from ..arguments import (
    Shape,
    arrays,
    broadcast,
    check_key,
    float_dtype,
    open_key,
    shape_of,
    working_dtype,
)
from ..implementations import fused
from .normal import normal_of


def multivariate_normal(
    key: Any,
    mean: Any,
    cov: Any,
    shape: Any = None,
    dtype: Any = None,
    method: str = "cholesky",
    *,
    out_sharding: Any = None,
) -> Any:
    """Vectors drawn from the normal distribution of a mean and a covariance.

    Args:
        key: a typed or a raw key.
        mean: an array of shape ``(..., n)``.
        cov: an array of shape ``(..., n, n)``, positive definite (``"eigh"`` and ``"svd"`` take
            semi-definite ones).
        shape: the shape of the result without its last axis; None for that of the parameters.
        dtype: the floating-point dtype of the draws, which the result joins with that of the
            parameters; None for theirs.
        method: the decomposition of ``cov``: ``"cholesky"``, ``"eigh"`` or ``"svd"``.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(
            out_sharding, multivariate_normal, key, mean, cov, shape, dtype, method
        )
    key = check_key("multivariate_normal", key)
    mean, cov = arrays("multivariate_normal", mean, cov)
    if arguments.string("method", method) not in ("cholesky", "eigh", "svd"):
        raise ValueError(
            "multivariate_normal: method must be 'cholesky', 'eigh' or 'svd', got "
            f"{method!r}{here()}"
        )
    result = (
        working_dtype(mean, cov) if dtype is None else float_dtype("multivariate_normal", dtype)
    )
    n = _vector_size(np.shape(mean), np.shape(cov))
    batches = (mean.shape[:-1], cov.shape[:-2])
    wanted = None if shape is None else shape_of("multivariate_normal", shape)
    batch = broadcast(*batches) if wanted is None else broadcast(wanted, *batches)
    if batch is None or wanted not in (None, batch):
        raise ValueError(
            f"multivariate_normal: parameters with batch dimensions {batches[0]} and {batches[1]} "
            f"do not broadcast to {'one shape' if wanted is None else f'shape {wanted}'}{here()}"
        )
    return _multivariate(key, mean, cov, shape=(*batch, n), dtype=result, method=method)


def _vector_size(mean: Shape, cov: Shape) -> int:
    if len(mean) < 1 or len(cov) < 2 or cov[-2:] != (mean[-1], mean[-1]):
        raise ValueError(
            "multivariate_normal takes a mean of shape (..., n) and a covariance of shape "
            f"(..., n, n), got shapes {mean} and {cov}{here()}"
        )
    return mean[-1]


@fused(static=("shape", "dtype", "method"))
def _multivariate(key: Any, mean: Any, cov: Any, *, shape: Shape, dtype: Any, method: str) -> Any:
    own = working_dtype(mean, cov)
    mean, cov = (lax.convert_element_type(x, own) for x in (mean, cov))
    draws = normal_of(open_key(key), shape, dtype)
    return dnp.add(dnp.einsum("...ij,...j->...i", _root(cov, method), draws), mean)


def _root(cov: Any, method: str) -> Any:
    """A matrix whose product with its transpose is ``cov``."""
    if method == "cholesky":
        return dnp.linalg.cholesky(cov)
    if method == "eigh":
        values, vectors = dnp.linalg.eigh(cov)
    else:
        vectors, values, _ = dnp.linalg.svd(cov)
    return dnp.multiply(vectors, dnp.sqrt(values)[..., None, :])


def orthogonal(
    key: Any,
    n: int,
    shape: Any = (),
    dtype: Any = None,
    m: int | None = None,
    *,
    out_sharding: Any = None,
) -> Any:
    """Matrices drawn uniformly from those with orthonormal columns (or rows, if ``m > n``).

    Args:
        key: a typed or a raw key.
        n: the number of rows.
        shape: the leading dimensions of the result.
        dtype: a floating-point or complex dtype.
        m: the number of columns; None for ``n``.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is invalid.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, orthogonal, key, n, shape, dtype, m)
    key = check_key("orthogonal", key)
    result = float_dtype("orthogonal", dtype, complex_too=True)
    rows, columns = shape_of("orthogonal", (n, n if m is None else m))
    wanted = shape_of("orthogonal", shape)
    return _orthogonal(key, shape=wanted, dtype=result, n=rows, m=columns)


@fused(static=("shape", "dtype", "n", "m"))
def _orthogonal(key: Any, *, shape: Shape, dtype: Any, n: int, m: int) -> Any:
    # Q of a normal matrix's QR decomposition, its columns' phases made unique by R's diagonal.
    z = normal_of(open_key(key), (*shape, max(n, m), min(n, m)), dtype)
    q, r = dnp.linalg.qr(z)
    d = dnp.linalg.diagonal(r)
    q = dnp.multiply(q, dnp.expand_dims(lax.sign(d), -2))
    return q if n >= m else dnp.conj(dnp.matrix_transpose(q))
