"""Quantization of vectors."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp
from dovetail_base.foreign import reword_errors
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import Array, ArrayLike, inexact

__all__ = ["vq"]


@reword_errors
def vq(obs: ArrayLike, code_book: ArrayLike, check_finite: bool = True) -> tuple[Array, Array]:
    """The nearest vector of a code book to each observation.

    Args:
        obs: observations, one in each row; of numbers, a vector.
        code_book: codes, one in each row.
        check_finite: accepted for compatibility.

    Returns:
        The index of the nearest code to each observation, and its distance.

    Raises:
        TypeError: an argument is no array.
        ValueError: shapes do not fit.
    """
    observations, codes = inexact("vq", obs, code_book)
    fits = observations.ndim == codes.ndim and observations.ndim in (1, 2)
    if not fits or observations.shape[1:] != codes.shape[1:] or not codes.shape[0]:
        raise ValueError(
            "vq: obs and code_book must be both vectors, or both matrices with as many columns, "
            f"and code_book not empty; got shapes {observations.shape} and {codes.shape}{here()}"
        )
    return _vq(observations, codes)


@fused()
def _vq(observations: Any, codes: Any) -> tuple[Any, Any]:
    if observations.ndim == 1:
        observations, codes = observations[:, None], codes[:, None]
    distances = dnp.linalg.norm(observations[:, None] - codes[None], axis=-1)
    nearest = dnp.argmin(distances, -1)
    return nearest, dnp.take_along_axis(distances, nearest[:, None], -1)[:, 0]
