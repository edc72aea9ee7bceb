"""Operations on typed keys, lowered to operations on their words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_batching import vmap
from dovetail_core import to_lo_rules

from .. import primitives
from ..implementations import Implementation, fused
from ..keys import Key, KeyArray, Lanes, join_lanes, split_lanes
from ..threefry import arranged


def _each(f: Callable[..., Any], like: Any) -> Callable[..., Any]:
    """``f`` of scalars, for each element of arrays of the shape of ``like``."""
    for _ in like.shape:
        f = vmap(f)
    return f


# Each operation of a generator is one function of a program, called by all equations that do it.


@fused(static=("impl", "shape"))
def _split_words(lanes: Lanes, *, impl: Implementation, shape: tuple[int, ...]) -> Lanes:
    return _each(lambda *words: impl.split(words, shape), lanes[0])(*lanes)


@fused(static=("impl",))
def _fold_in_words(lanes: Lanes, data: Any, *, impl: Implementation) -> Lanes:
    fold = impl.fold_in
    axes = tuple([0 if np.ndim(x) else None for x in (lanes[0], data)])
    for _ in np.shape(lanes[0]) or np.shape(data):
        fold = vmap(fold, in_axes=axes)
    return fold(lanes, data)


@fused(static=("impl", "width", "shape"))
def _bits_of(lanes: Lanes, *, impl: Implementation, width: int, shape: tuple[int, ...]) -> Any:
    return _each(lambda *words: impl.random_bits(words, width, shape), lanes[0])(*lanes)


@to_lo_rules.register(primitives.random_seed_p)
def _seed(seeds: Any, *, impl: Implementation) -> Key:
    return KeyArray(impl.dtype, _each(impl.seed, seeds)(seeds))


@to_lo_rules.register(primitives.random_wrap_p)
def _wrap(raw: Any, *, impl: Implementation) -> Key:
    return KeyArray(impl.dtype, split_lanes(raw, impl.words))


@to_lo_rules.register(primitives.random_unwrap_p)
def _unwrap(keys: Any) -> Any:
    return join_lanes(keys.lanes)


@to_lo_rules.register(primitives.random_clone_p)
def _clone(keys: Any) -> Key:
    return keys


@to_lo_rules.register(primitives.random_split_p)
def _split(keys: Any, *, shape: tuple[int, ...], partitionable: bool = True) -> Key:
    words = arranged(partitionable, _split_words, keys.lanes, impl=keys.impl, shape=shape)
    return KeyArray(keys.dtype, words)


@to_lo_rules.register(primitives.random_fold_in_p)
def _fold_in(keys: Any, data: Any) -> Key:
    return KeyArray(keys.dtype, _fold_in_words(keys.lanes, data, impl=keys.impl))


@to_lo_rules.register(primitives.random_bits_p)
def _random_bits(
    keys: Any, *, bit_width: int, shape: tuple[int, ...], partitionable: bool = True
) -> Any:
    how = {"impl": keys.impl, "width": bit_width, "shape": shape}
    return arranged(partitionable, _bits_of, keys.lanes, **how)
