"""The order of complex numbers of which parts are NaN: NumPy's, in all that sorts or searches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail import jit, vmap

N = np.nan
PARTS = [(1, 2), (N, 1), (1, N), (N, N), (0, N), (N, -1), (0, -1), (2, -5)]
Z = np.array([complex(*p) for p in PARTS], np.complex64)
RUNS = [lambda f: f, jit, lambda f: lambda x: vmap(f)(x[None])[0]]


@pytest.mark.parametrize("run", RUNS, ids=["eager", "jit", "vmap"])
def test_sorts(run: Any) -> None:
    """Numbers come first, then what has a NaN as imaginary part, as real part, and as both."""
    wanted = np.sort(Z)
    np.testing.assert_array_equal(run(dnp.sort)(Z), wanted)
    np.testing.assert_array_equal(run(lax.sort)(Z), wanted)
    np.testing.assert_array_equal(run(dnp.argsort)(Z), np.argsort(Z, kind="stable"))
    np.testing.assert_array_equal(run(lambda z: dnp.lexsort((z,)))(Z), np.lexsort((Z,)))
    np.testing.assert_array_equal(run(lambda z: dnp.sort(z, descending=True))(Z), wanted[::-1])


@pytest.mark.parametrize("side", ["left", "right"])
@pytest.mark.parametrize("method", ["scan", "sort", "compare_all"])
@pytest.mark.parametrize("run", RUNS[:2], ids=["eager", "jit"])
def test_searches(method: str, side: str, run: Any) -> None:
    """Places are those in the sorted array."""
    ordered = np.sort(Z)
    for values in (Z, Z[:1] + 5, Z.real.astype(np.complex64)):
        f = run(lambda v: dnp.searchsorted(ordered, v, side=side, method=method))
        np.testing.assert_array_equal(f(values), np.searchsorted(ordered, values, side))


def test_distinct_values() -> None:
    """Values with a NaN count as one value, which comes last."""
    result = np.asarray(dnp.unique(Z))
    assert result[:-1].tolist() == np.unique(Z)[:-1].tolist() and np.isnan(result[-1])
    assert len(dnp.unique(Z, equal_nan=False)) == len(Z)
