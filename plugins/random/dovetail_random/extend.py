"""The public names of ``jax.extend.random``: making generators, and keys of them."""

from __future__ import annotations

from typing import Any

import dovetail_numpy as dnp
from dovetail_core import here

from .implementations import Implementation, define_prng_impl as define_prng_impl
from .keys import Key
from .making import key
from .primitives import random_seed_p
from .rbg import RBG as rbg_prng_impl, UNSAFE_RBG as unsafe_rbg_prng_impl
from .threefry import (
    THREEFRY as threefry_prng_impl,
    threefry2x32_p as threefry2x32_p,
    threefry_2x32 as threefry_2x32,
)


def random_seed(seeds: Any, impl: Implementation) -> Key:
    """An array of keys of a generator, one for each integer of an array of ``seeds``.

    Raises:
        TypeError: ``seeds`` are no integers, or ``impl`` is no generator.
    """
    _check("random_seed", impl)
    array = dnp.asarray(seeds)
    if not dnp.issubdtype(array.dtype, dnp.integer):
        raise TypeError(f"random_seed: seeds are integers, got dtype {array.dtype}{here()}")
    return random_seed_p.bind(array, impl=impl)


def seed_with_impl(impl: Implementation, seed: Any) -> Key:
    """A key of a generator, made of an integer ``seed`` (see :func:`dovetail.random.key`).

    Raises:
        TypeError: the seed is no integer, or ``impl`` is no generator.
    """
    _check("seed_with_impl", impl)
    return key(seed, impl=impl)


def _check(name: str, impl: Any) -> None:
    if not isinstance(impl, Implementation):
        raise TypeError(
            f"{name}: impl is a generator of random bits (define_prng_impl makes one), got "
            f"{impl!r} of type {type(impl).__name__}{here()}"
        )


__all__ = [
    "define_prng_impl", "random_seed", "rbg_prng_impl", "seed_with_impl", "threefry2x32_p",
    "threefry_2x32", "threefry_prng_impl", "unsafe_rbg_prng_impl",
]  # fmt: skip
