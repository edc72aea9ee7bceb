"""The law of batching's rule table."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dovetail_core import typeof
from dovetail_core.testing import Sample, assert_close, law, stacked_loop

from .trace import Axis, batch_values, carrier_of

SIZE = 3


@law("batch", without=("random", "pooled"), applies=lambda sample: bool(sample.args))
def batch_law(sample: Sample) -> None:
    """A batched operation agrees with a loop, for every choice of mapped operands and axes.

    Not so one that is tagged ``"pooled"``: what is drawn for a whole axis at once.
    """
    for dims in _choices(sample):
        args = [_stacked(x, d) for x, d in zip(sample.args, dims)]
        axis = Axis(SIZE)
        found = batch_values(sample.flat, axis, args, dims)
        expected = stacked_loop(sample.flat, args, dims, SIZE)
        for value, y in zip(found, expected, strict=True):
            aval: Any = carrier_of(axis).aval(value)
            assert aval.shape == y.shape[1:], f"shape {aval.shape} per element, mapped {dims}"
            (array,) = carrier_of(axis).arrays(value, True, 0)
            assert_close(array, y, f"mapped axes {dims}", scale=sample.scale)


def _choices(sample: Sample) -> list[tuple[int | None, ...]]:
    """Each operand alone, all in front, all at the end; every combination where they are few."""
    places: list[list[int | None]] = [[None, 0, typeof(x).ndim] for x in sample.args]  # type: ignore
    if len(places) <= 2:
        found = list(product(*places))
    else:
        n = len(places)
        found = [tuple(0 if i == j else None for i in range(n)) for j in range(n)]
        found += [tuple(p[1] for p in places), tuple(p[2] for p in places)]
    return [d for d in dict.fromkeys(found) if any(p is not None for p in d)]


def _stacked(x: Any, dim: int | None) -> Any:
    """The operand itself, or slices of it: the same elements in another order, so still valid."""
    if dim is None:
        return x
    array = np.asarray(x)
    if isinstance(x, (bool, int, float, complex)):
        array = array.astype(typeof(x).dtype)  # type: ignore[attr-defined]
    slices = [np.roll(array, k) if array.ndim else array for k in range(SIZE)]
    return np.stack(slices, axis=dim)
