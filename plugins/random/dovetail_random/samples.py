"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core.testing import Sample

from .draws.gamma import random_gamma_p
from .generators import implementation
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


def _gamma() -> Iterator[Sample]:
    impl = implementation("threefry2x32")
    alpha = np.array([0.3, 1.0, 2.5, 30.0], np.float32)
    for log_space in (False, True):
        params = {"impl": impl, "log_space": log_space}
        tags = frozenset({"nonsmooth"})  # finite differences cross acceptance bounds
        yield Sample(random_gamma_p, (_words(0, 4), _words(1, 4), alpha), params, tags)
        yield Sample(random_gamma_p, (_words(0), _words(1), np.float32(0.7)), params, tags)
