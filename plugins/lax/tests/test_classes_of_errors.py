"""Errors that are caught as the classes that JAX raises, where these are others than by kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_lax import GatherDimensionNumbers, ScatterDimensionNumbers

X = np.arange(6, dtype=np.float32).reshape(2, 3)
IMAGE, KERNEL = np.ones((1, 2, 4, 4), np.float32), np.ones((3, 2, 2, 2), np.float32)
FRACTION = np.zeros(1, np.float32)
READ = GatherDimensionNumbers((0,), (0,), (0,))
WRITE = ScatterDimensionNumbers((0,), (0,), (0,))

VALUE_ERRORS: dict[str, Callable[[], object]] = {
    "gather": lambda: lax.gather(X, FRACTION, READ, (1, 3)),
    "scatter": lambda: lax.scatter(X, FRACTION, np.ones(3, np.float32), WRITE),
    "pad": lambda: lax.pad(X, np.zeros(1, np.float32), [(1, 1, 0)] * 2),
    "reduce": lambda: lax.reduce(X, np.zeros(1, np.float32), lax.add, (0,)),
    "reduce_window": lambda: lax.reduce_window(X, 0.0, lax.add, (2, 2), (1, 1), [(0, 0)]),
    "conv": lambda: lax.conv(IMAGE, KERNEL, (1,), "SAME"),
    "bitcast_convert_type": lambda: lax.bitcast_convert_type(X, "complex64"),
    "rng_uniform": lambda: lax.rng_uniform(0.0, 1, (2,)),
    "Tolerance": lax.Tolerance,
}


@pytest.mark.parametrize("case", VALUE_ERRORS)
def test_value_errors(case: str) -> None:
    with pytest.raises(ValueError, match=r"indices of type|scalar|needs|such bits|one dtype"):
        VALUE_ERRORS[case]()


def test_repeated_axes_of_a_broadcast_are_refused_where_nothing_changes() -> None:
    x = lax.full((2, 2), 1.0)
    assert lax.broadcast_in_dim(x, (2, 2), (0, 1)) is x
    assert lax.broadcast_in_dim(x, (2, 2), ()) is x
    with pytest.raises(TypeError, match="must increase"):
        lax.broadcast_in_dim(x, (2, 2), (0, 0))


def test_an_infinite_initial_value_of_integers_is_not_warned_of() -> None:
    x = np.arange(6, dtype=np.int32)
    windows = lax.reduce_window(x, -np.inf, lax.max, (2,), (2,), "VALID")
    assert windows.tolist() == [1, 3, 5]
