"""Negative pads, alone and before windows that are padded again."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail import grad, jit, vmap

pytestmark = pytest.mark.usefixtures("optimized")

PADS = [
    (-2, 0, 0),
    (-2, -1, 0),
    (-1, 2, 0),
    (2, -3, 0),
    (-3, -3, 2),
    (-9, 5, 0),
    (0, -2, 1),
    (0, 0, 0),
]
X = np.arange(1, 9, dtype=np.float32)


def _padded(x: Any, low: int, high: int, holes: int, value: float) -> Any:
    """By definition: holes between, then both ends, then what is negative is cut off."""
    wide = np.full(len(x) + (len(x) - 1) * holes, value, np.float32)
    wide[:: holes + 1] = x
    wide = np.pad(wide, (max(low, 0), max(high, 0)), constant_values=value)
    return wide[max(-low, 0) : len(wide) - max(-high, 0)]


@pytest.mark.parametrize("pad", PADS)
def test_negative_pads(pad: Any) -> None:
    """What is cut off stays so: alone, mapped, in slopes and within padded windows."""

    def f(x: Any, value: float = -5) -> Any:
        return lax.pad(x, np.float32(value), [pad])

    wanted = _padded(X, *pad, -5)
    for result in (f(X), jit(f)(X), jit(vmap(f))(X[None])[0]):
        np.testing.assert_array_equal(result, wanted)
    kept = _padded(X, *pad, 0)
    slope = np.asarray(jit(grad(lambda x: (f(x, 0) ** 2).sum()))(X))
    np.testing.assert_array_equal(slope, 2 * X * np.isin(X, kept))
    for again in ((2, 0), (3, 3)):
        for op, init, total in ((lax.add, 0, np.sum), (lax.max, -np.inf, np.max)):
            init = np.float32(init)
            run = jit(lambda x, op=op, init=init, again=again: lax.reduce_window(
                f(x, init), init, op, (3,), (1,), [again]))  # fmt: skip
            wide = np.pad(_padded(X, *pad, init), again, constant_values=init)
            windows = np.lib.stride_tricks.sliding_window_view(wide, 3)
            np.testing.assert_array_equal(run(X), total(windows, -1))
    text = jit(f).lower(X).as_text()
    assert not re.search(r"(low|high) = (\[|array<i64: )[^\]>]*-", text), text
