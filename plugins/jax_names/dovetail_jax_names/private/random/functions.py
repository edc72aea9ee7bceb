"""A generator's functions on raw keys, as pickles of keys name them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import dovetail_random as random


class Functions(NamedTuple):
    """The functions of a generator that JAX's pickles name."""

    seed: Callable[..., Any]
    split: Callable[..., Any]
    random_bits: Callable[..., Any]
    fold_in: Callable[..., Any]


def functions(impl: str, module: str, *names: str) -> Functions:
    """The functions of a generator, by the names that a module of JAX has them under."""

    def typed(key: Any) -> Any:
        return random.wrap_key_data(key, impl=impl)

    def seed(seed: Any) -> Any:
        """The words of the key of a seed."""
        return random.key_data(random.key(seed, impl=impl))

    def split(key: Any, shape: Any) -> Any:
        """The words of new keys made of one."""
        return random.key_data(random.split(typed(key), tuple(shape)))

    def random_bits(key: Any, bit_width: int, shape: Any) -> Any:
        """Random unsigned integers."""
        return random.bits(typed(key), tuple(shape), f"uint{bit_width}")

    def fold_in(key: Any, data: Any) -> Any:
        """The words of a new key made of one and a number."""
        return random.key_data(random.fold_in(typed(key), data))

    made = Functions(seed, split, random_bits, fold_in)
    for function, name in zip(made, names, strict=True):
        function.__module__, function.__name__ = module, name
        function.__qualname__ = name
    return made
