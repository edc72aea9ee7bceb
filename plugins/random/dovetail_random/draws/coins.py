"""Booleans that are true with a given probability."""

from __future__ import annotations

from typing import Any

import ml_dtypes

import dovetail_lax as lax
from dovetail_core import here, type_shardings

from ..arguments import (
    Shape,
    arrays,
    check_key,
    common_shape,
    float_dtype,
    is_floating,
    open_key,
    parameter,
)
from ..fusing import fused
from .uniform import halves, unit


def bernoulli(
    key: Any, p: Any = 0.5, shape: Any = None, mode: str = "low", *, out_sharding: Any = None
) -> Any:
    """Booleans that are true with probability ``p``.

    Args:
        key: a typed or a raw key.
        p: a floating-point number, or an array of them that broadcasts to ``shape``.
        shape: the shape of the result; None for that of ``p``.
        mode: ``"low"``, or ``"high"`` for probabilities finer than the dtype's spacing near 1.

    Raises:
        TypeError, ValueError: ``key`` is not one key, or another argument is not as said.
    """
    if out_sharding is not None:
        return type_shardings.with_out_sharding(out_sharding, bernoulli, key, p, shape, mode)
    key = check_key("bernoulli", key)
    check_mode("bernoulli", mode)
    (p,) = arrays("bernoulli", p)
    if not is_floating(p):
        raise TypeError(
            f"bernoulli: the probability p must be a floating-point number, got {p!r}{here()}. "
            "Convert it with dovetail.numpy.float32."
        )
    return _bernoulli(key, p, shape=common_shape("bernoulli", shape, p), mode=mode)


def check_mode(name: str, mode: str, modes: tuple[str, ...] = ("low", "high")) -> None:
    """Raise unless ``mode`` is one of ``modes``."""
    if mode not in modes:
        raise ValueError(
            f"{name}: mode must be {' or '.join(map(repr, modes))}, got {mode!r}{here()}"
        )


@fused(static=("shape", "mode"))
def _bernoulli(key: Any, p: Any, *, shape: Shape, mode: str) -> Any:
    keys = open_key(key)
    dtype = float_dtype("bernoulli", getattr(p, "dtype", None))
    p = parameter(p, dtype, shape)
    if mode == "low":
        return lax.lt(unit(keys, shape, dtype), p)
    # The second draw supplies the bits below the spacing of the first.
    coarse, fine = halves(unit(keys, (2, *shape), dtype))
    fine = lax.mul(fine, dtype.type(2.0 ** -ml_dtypes.finfo(dtype).nmant))
    return lax.lt(fine, lax.sub(p, coarse))
