"""Attention by scaled dot products."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_core import here
from dovetail_jit import fused

from ..arguments import array
from .softmax import logsumexp, softmax

Array = Any


ArrayLike = Any


MASKED = -0.7 * float(np.finfo(np.float32).max)
"""The logit of masked keys: its weight is 0, and it is finite, so that rows in which all keys are
masked have no NaN."""


def dot_product_attention(
    query: ArrayLike,
    key: ArrayLike,
    value: ArrayLike,
    bias: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    *,
    scale: float | None = None,
    is_causal: bool = False,
    query_seq_lengths: ArrayLike | None = None,
    key_value_seq_lengths: ArrayLike | None = None,
    local_window_size: int | tuple[int, int] | None = None,
    implementation: str | None = None,
    return_residual: bool = False,
) -> Any:
    """``softmax(scale * query @ key.T + bias) @ value`` for each head.

    B is the batch, T and S the lengths of queries and keys, N and K the numbers of their heads, and
    H the size of a head. Where K is less than N it divides N, and each head of keys serves N / K
    heads of queries. Logits and softmax are computed in 32 bits or more.

    Args:
        query: an array of shape ``(B, T, N, H)`` or ``(T, N, H)``.
        key, value: arrays of shape ``(B, S, K, H)`` or ``(S, K, H)``.
        bias: added to the logits, broadcasts to ``(B, N, T, S)``.
        mask: booleans that broadcast to ``(B, N, T, S)``; queries attend to keys where it is true.
        scale: by default ``1 / sqrt(H)``.
        is_causal: whether queries attend to no key of a later position.
        query_seq_lengths: the number of valid queries of each batch element, ``(B,)`` integers;
            results for the others are 0.
        key_value_seq_lengths: the number of valid keys of each batch element.
        local_window_size: the number of positions to the left and to the right that a query attends
            to.
        implementation: None or ``"xla"``.
        return_residual: whether to return the logarithms of the softmax's denominators too, an
            array of shape ``(B, T, N)`` and the dtype of ``query``.

    Returns:
        An array of the shape and dtype of ``query``, or that and the residual.

    Raises:
        ValueError: shapes do not fit, dtypes differ, the mask is not of booleans or lengths are not
            integers, one for each batch element, or the implementation is not one of those.
    """
    if implementation not in (None, "xla"):
        raise ValueError(
            f"dot_product_attention: implementation must be None or 'xla', got "
            f"{implementation!r}{here()}"
        )
    query, key, value = (array("dot_product_attention", x) for x in (query, key, value))
    single = len(query.shape) == 3
    if single:
        query, key, value = (dnp.expand_dims(x, 0) for x in (query, key, value))
    _check_shapes(query.shape, key.shape, value.shape)
    _check_dtypes(query.dtype, key.dtype, value.dtype)
    bias, mask = (
        None if x is None else _rank_four(name, x) for name, x in (("bias", bias), ("mask", mask))
    )
    _check_mask(mask)
    out = _attention(
        query, key, value, bias, mask,
        _lengths("query_seq_lengths", query.shape[0], query_seq_lengths),
        _lengths("key_value_seq_lengths", query.shape[0], key_value_seq_lengths),
        scale=float(1 / sqrt(max(query.shape[-1], 1)) if scale is None else scale),
        is_causal=bool(is_causal), window=_window(local_window_size),
        residual=bool(return_residual),
    )  # fmt: skip
    if single:
        out = tuple(dnp.squeeze(x, 0) for x in out)
    return tuple(out) if return_residual else out[0]


def _check_shapes(query: Any, key: Any, value: Any) -> None:
    fits = len(query) == len(key) == 4 and key == value
    fits = fits and query[0] == key[0] and query[3] == key[3]
    if not fits or (query[2] % key[2] if key[2] else query[2]):
        raise ValueError(
            "dot_product_attention takes a query of shape (B, T, N, H) or (T, N, H) and key and "
            "value of shape (B, S, K, H) or (S, K, H), where N must be a multiple of K; got (with "
            f"a batch axis) {query}, {key} and {value}{here()}"
        )


def _check_dtypes(query: Any, key: Any, value: Any) -> None:
    if not query == key == value:
        raise ValueError(
            "dot_product_attention takes query, key and value of one dtype, got "
            f"{query}, {key} and {value}{here()}. Convert them with astype."
        )


def _check_mask(mask: Any) -> None:
    if mask is not None and mask.dtype != np.bool_:
        raise ValueError(
            f"dot_product_attention: mask must be of booleans, got dtype {mask.dtype}{here()}. "
            "Compare it with 0, or add logits to the others' as bias."
        )


def _lengths(name: str, batch: int, x: Any) -> Any:
    if x is None:
        return None
    x = dnp.asarray(x)
    if x.shape != (batch,) or x.dtype.kind not in "iu":
        raise ValueError(
            f"dot_product_attention: {name} must be integers of shape ({batch},), one for each "
            f"batch element, got shape {x.shape} and dtype {x.dtype}{here()}"
        )
    return x


def _window(size: Any) -> tuple[int, ...] | None:
    if size is None or isinstance(size, int):
        return None if size is None else (size, size)
    if len(size) != 2:
        raise ValueError(
            "dot_product_attention: local_window_size is a number of positions or two, to the left "
            f"and to the right, got {size}{here()}"
        )
    return tuple(size)


def _rank_four(name: str, x: Any) -> Any:
    x = array("dot_product_attention", x)
    if len(x.shape) > 4:
        raise ValueError(
            f"dot_product_attention: {name} must broadcast to (B, N, T, S), got shape "
            f"{x.shape}{here()}"
        )
    return dnp.reshape(x, (1,) * (4 - len(x.shape)) + tuple(x.shape))


@fused(static=("scale", "is_causal", "window", "residual"))
def _attention(
    query: Any, key: Any, value: Any, bias: Any, mask: Any, query_lengths: Any, key_lengths: Any, *,
    scale: float, is_causal: bool, window: tuple[int, ...] | None, residual: bool,
) -> tuple[Any, ...]:  # fmt: skip
    b, t, n, h = query.shape
    s, k = key.shape[1:3]
    wide = (
        np.promote_types(query.dtype, np.float32)
        if query.dtype.kind == "f"
        else np.dtype(np.float32)
    )
    groups = n // k if k else 1
    grouped = dnp.reshape(query, (b, t, k, groups, h))
    logits = dnp.einsum("btkgh,bskh->bkgts", grouped, key, preferred_element_type=wide)
    logits = dnp.multiply(dnp.reshape(logits, (b, n, t, s)), scale)
    if bias is not None:
        logits = dnp.add(logits, bias).astype(wide)
    visible = _visible(t, s, mask, query_lengths, key_lengths, is_causal, window)
    if visible is not None:
        logits = dnp.where(visible, logits, MASKED)
    weights = softmax(logits, axis=-1).astype(key.dtype)
    weights = dnp.reshape(weights, (b, k, groups, t, s))
    out = dnp.reshape(dnp.einsum("bkgts,bskh->btkgh", weights, value), (b, t, n, h))
    valid = None if query_lengths is None else _before(t, query_lengths)[:, :, None]
    if valid is not None:
        out = dnp.where(valid[..., None], out, 0)
    if not residual:
        return (out,)
    lse = dnp.moveaxis(logsumexp(logits, axis=-1), 1, 2)
    return out, lse.astype(key.dtype)


def _before(size: int, lengths: Any) -> Any:
    """The mask of valid positions, of shape ``(B, size)``."""
    return dnp.less(dnp.arange(size)[None, :], dnp.asarray(lengths)[:, None])


def _visible(
    t: int, s: int, mask: Any, query_lengths: Any, key_lengths: Any, is_causal: bool, window: Any
) -> Any:
    """The mask of the keys that each query attends to; None for all keys.

    Its shape broadcasts to ``(B, N, T, S)``.
    """
    parts = [] if mask is None else [mask]
    ahead = np.arange(s)[None, :] - np.arange(t)[:, None]
    if is_causal:
        parts.append((ahead <= 0)[None, None])
    if window is not None:
        parts.append(((ahead >= -window[0]) & (ahead <= window[1]))[None, None])
    if query_lengths is not None:
        parts.append(_before(t, query_lengths)[:, None, :, None])
    if key_lengths is not None:
        parts.append(_before(s, key_lengths)[:, None, None, :])
    visible = None
    for part in parts:
        visible = part if visible is None else dnp.logical_and(visible, part)
    return visible
