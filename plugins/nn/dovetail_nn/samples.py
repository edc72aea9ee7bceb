"""Sample inputs of the primitives of this plugin, for tests by the matrix."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np

from dovetail_core import Primitive
from dovetail_testing import Sample

from . import primitives as nn

FLOATS = ("float32", "bfloat16", "float16")
EXTREMES = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, 1e30, -1e30, 6.0], np.float32)


def _numbers(shape: tuple[int, ...], dtype: str, low: float = -3.0, high: float = 3.0) -> Any:
    """Numbers that are not near 0, where some primitives are not differentiable."""
    values = np.random.default_rng([*shape, 5]).uniform(low, high, shape)
    values = np.where(abs(values) < 0.2, values + 0.5, values)
    return values.astype(getattr(ml_dtypes, dtype, dtype))[()]


def samples() -> Iterator[Sample]:
    """The samples of all primitives."""
    for p in (nn.relu_p, nn.relu6_p, nn.softplus_p, nn.normal_cdf_p):
        yield from _elementwise(p)
    for p in (nn.log1mexp_p, nn.log1mexp_slope_p):
        yield from _elementwise(p, 0.3, 5.0)
    yield Sample(nn.relu_p, (_numbers((4,), "int32", -9, 9),))
    for p in (nn.softmax_p, nn.log_softmax_p, nn.logsumexp_p):
        yield from _along(p)


def _elementwise(p: Primitive, low: float = -3.0, high: float = 3.0) -> Iterator[Sample]:
    for dtype in FLOATS:
        yield Sample(p, (_numbers((5,), dtype, low, high),))
    yield Sample(p, (_numbers((2, 3), "float32", low, high),))
    yield Sample(p, (_numbers((), "float32", low, high),))
    yield Sample(p, (_numbers((0, 2), "float32"),), tags=frozenset({"empty"}))
    yield Sample(p, (EXTREMES,), tags=frozenset({"extreme", "nonsmooth"}))


def _along(p: Primitive) -> Iterator[Sample]:
    for dtype in FLOATS:
        yield Sample(p, (_numbers((3, 4), dtype),), {"axes": (1,)})
    yield Sample(p, (_numbers((2, 3, 4), "float32"),), {"axes": (0, 2)})
    large = _numbers((2, 3), "float32", 50.0, 200.0)  # a sum of the same size is subtracted
    yield Sample(p, (large,), {"axes": (0, 1)}, name="large", scale=200.0)
    yield Sample(p, (_numbers((0, 2), "float32"),), {"axes": (1,)}, frozenset({"empty"}))
    infinite = np.array([[-np.inf, 1.0, 2.0], [0.0, -np.inf, -np.inf]], np.float32)
    extreme = frozenset({"extreme", "nonsmooth"})
    yield Sample(p, (infinite,), {"axes": (1,)}, extreme, name="minus infinity")
