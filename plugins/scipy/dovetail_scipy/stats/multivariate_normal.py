"""The normal distribution of vectors."""

from __future__ import annotations

from math import log, pi
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact

__all__ = ["logpdf", "pdf"]


def logpdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike, allow_singular: None = None) -> Array:
    """The logarithm of the probability density of the normal distribution of vectors.

    Args:
        x, mean: vectors along the last axis; other axes broadcast. With a scalar mean and
            covariance they are numbers.
        cov: covariance matrices along the last two axes, or the variance of each coordinate.

    Returns: nan where a matrix is not positive definite.

    Raises:
        TypeError: an argument is no array.
        ValueError: shapes do not fit.
        NotImplementedError: ``allow_singular`` is given.
    """
    if allow_singular is not None:
        raise NotImplementedError(
            f"multivariate_normal.logpdf: allow_singular is not supported{here()}. Leave it out; "
            "add a small multiple of the identity to singular matrices."
        )
    return _logpdf(x, mean, cov)


@fused()
def pdf(x: ArrayLike, mean: ArrayLike, cov: ArrayLike) -> Array:
    """The probability density of the normal distribution of vectors, as :func:`logpdf`."""
    return lax.exp(_log_density("multivariate_normal.pdf", x, mean, cov))


@fused()
def _logpdf(x: Any, mean: Any, cov: Any) -> Any:
    return _log_density("multivariate_normal.logpdf", x, mean, cov)


def _log_density(name: str, x: Any, mean: Any, cov: Any) -> Any:
    x, mean, cov = inexact(name, x, mean, cov)
    if not mean.ndim and not cov.ndim:
        return -0.5 * lax.square(x - mean) / cov - 0.5 * lax.log(2 * pi * cov)
    n = mean.shape[-1] if mean.ndim else cov.shape[-1]
    off = x - mean
    if cov.ndim == 0:
        square, half = lax.square(off).sum(-1) / cov, 0.5 * n * lax.log(cov)
        return -0.5 * (square + n * log(2 * pi)) - half
    if cov.ndim < 2 or cov.shape[-2:] != (n, n) or off.shape[-1:] != (n,):
        raise ValueError(
            f"{name}: vectors x and mean and matrices cov do not fit: shapes {x.shape}, "
            f"{mean.shape} and {cov.shape}{here()}"
        )
    root = dnp.linalg.cholesky(cov)
    batch = dnp.broadcast_shapes(off.shape[:-1], root.shape[:-2])
    off = dnp.broadcast_to(off, (*batch, n))[..., None]
    root = dnp.broadcast_to(root, (*batch, n, n))
    white = lax.linalg.triangular_solve(root, off, left_side=True, lower=True)[..., 0]
    half = lax.log(dnp.diagonal(root, 0, -2, -1)).sum(-1)
    return -0.5 * (lax.square(white).sum(-1) + n * log(2 * pi)) - half
