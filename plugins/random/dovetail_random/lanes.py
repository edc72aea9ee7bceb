"""Raw keys and lanes: the last axis of a uint32 array against one array per word."""

from __future__ import annotations

from math import prod
from typing import Any, TypeAlias

import numpy as np

import dovetail_lax as lax

Lanes: TypeAlias = "tuple[Any, ...]"
"""A key taken apart: one uint32 array per word, each of the shape of the array of keys."""

UINTS = {
    8: np.dtype(np.uint8),
    16: np.dtype(np.uint16),
    32: np.dtype(np.uint32),
    64: np.dtype(np.uint64),
}
_HALF = UINTS[32].type(32)


def take_apart(raw: Any, words: int) -> Lanes:
    """The words of raw keys of shape ``(..., words)``, each of shape ``(...)``."""
    shape = raw.shape[:-1]
    axis = len(shape)
    return tuple(
        lax.squeeze(lax.slice_in_dim(raw, w, w + 1, axis=axis), (axis,)) for w in range(words)
    )


def join_lanes(lanes: Lanes) -> Any:
    """Raw keys of shape ``(..., words)`` from their words."""
    axis = len(lanes[0].shape)
    return lax.concatenate([lax.expand_dims(lane, (axis,)) for lane in lanes], axis)


def in_key_shape(words: Any, key_shape: tuple[int, ...]) -> Any:
    """Raw keys in the shape in which users see them, from their words of shape ``(..., words)``."""
    return words if len(key_shape) == 1 else lax.reshape(words, (*words.shape[:-1], *key_shape))


def in_words(raw: Any, key_shape: tuple[int, ...]) -> Any:
    """The words, of shape ``(..., words)``, of raw keys in the shape in which users see them."""
    if len(key_shape) == 1:
        return raw
    return lax.reshape(raw, (*raw.shape[: len(raw.shape) - len(key_shape)], prod(key_shape)))


def join_halves(high: Any, low: Any) -> Any:
    """64-bit integers from two 32-bit halves, whether 64-bit types are enabled or not."""
    return lax.or_p.bind(lax.shift_left_p.bind(widen(high), widen(_HALF)), widen(low))


def upper_half(x: Any) -> Any:
    """The upper 32 bits of 64-bit integers."""
    half = lax.shift_right_logical_p.bind(x, widen(_HALF))
    return lax.convert_element_type_p.bind(half, new_dtype=UINTS[32])


def widen(x: Any) -> Any:
    """uint32 as uint64."""
    return lax.convert_element_type_p.bind(x, new_dtype=UINTS[64])
