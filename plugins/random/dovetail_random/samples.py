"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import dovetail_numpy as dnp
from dovetail_testing import Sample

from .draws.gamma import random_gamma_p
from .generators import implementation
from .making import wrap_key_data
from .primitives import (
    random_bits_p,
    random_clone_p,
    random_fold_in_p,
    random_seed_p,
    random_split_p,
    random_unwrap_p,
    random_wrap_p,
)
from .threefry import threefry2x32_p


def _words(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).integers(0, 1 << 32, shape, np.uint32)[()]


def samples() -> Iterator[Sample]:
    """Counters and keys of all mixtures of shapes; gamma variates of all methods."""
    p = threefry2x32_p
    yield Sample(p, (_words(0), _words(1), _words(2, 7), _words(3, 7)))
    yield Sample(p, (_words(0), _words(1), np.uint32(0), _words(3, 2, 3)), name="one counter")
    yield Sample(p, (_words(0, 5), _words(1, 5), _words(2, 5), _words(3, 5)), name="many keys")
    yield Sample(p, (_words(0, 5), _words(1, 5), np.uint32(0), np.uint32(4)), name="fold in")
    yield Sample(p, tuple(_words(i) for i in range(4)), name="scalars")
    yield Sample(p, (_words(0), _words(1), np.uint32(0), _words(3, 0)), tags=frozenset({"empty"}))
    yield from _gamma()
    yield from _on_keys()


def _keys(seed: int, *shape: int) -> Any:
    raw = np.random.default_rng(seed).integers(0, 1 << 32, (*shape, 2), np.uint32)
    return wrap_key_data(dnp.asarray(raw), impl="threefry2x32")


def _gamma() -> Iterator[Sample]:
    alpha = np.array([0.3, 1.0, 2.5, 30.0], np.float32)
    for log_space in (False, True):
        params = {"log_space": log_space}
        tags = frozenset({"nonsmooth"})  # finite differences cross acceptance bounds
        yield Sample(random_gamma_p, (_keys(0, 4), alpha), params, tags)
        yield Sample(random_gamma_p, (_keys(0), np.float32(0.7)), params, tags)


def _on_keys() -> Iterator[Sample]:
    """Operations that make or take keys: single keys, arrays of them, empty arrays."""
    impl = {"impl": implementation("threefry2x32")}
    for shape in ((), (3,), (2, 2), (0,)):
        name, tags = f"keys {shape}", frozenset({"empty"} if 0 in shape else ())
        keys, data = _keys(7, *shape), np.asarray(_words(8, *shape))
        yield Sample(random_seed_p, (data,), impl, tags, name)
        yield Sample(random_wrap_p, (_words(9, *shape, 2),), impl, tags, name)
        yield Sample(random_unwrap_p, (keys,), {}, tags, name)
        yield Sample(random_clone_p, (keys,), {}, tags, name)
        yield Sample(random_split_p, (keys,), {"shape": (2,)}, tags, name)
        yield Sample(random_fold_in_p, (keys, data), {}, tags, name)
        yield Sample(random_bits_p, (keys,), {"bit_width": 32, "shape": (3,)}, tags, name)
    yield Sample(random_bits_p, (_keys(1, 2),), {"bit_width": 8, "shape": ()}, name="bytes")
    yield Sample(random_split_p, (_keys(1),), {"shape": (0,)}, frozenset({"empty"}), "none")
