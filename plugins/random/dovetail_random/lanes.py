"""Raw keys and lanes: the last axis of a uint32 array against one array per word."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from .implementations import UINTS, Lanes

U64 = UINTS[64]


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


def join_halves(high: Any, low: Any) -> Any:
    """64-bit integers from two 32-bit halves."""
    wide = [lax.convert_element_type_p.bind(x, new_dtype=U64) for x in (high, low)]
    return lax.bitwise_or(lax.shift_left(wide[0], U64.type(32)), wide[1])
