"""Which modules' reductions are loops and which are trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, nn
from dovetail_backends.cpu_rules import (
    BARRIERS,
    FUSIONS,
    PASSES,
    TREES,
    options_for,
    reduces_along_rows,
)
from dovetail_backends.pjrt.facts import ModuleFacts

X = np.ones((20, 30), np.float32)
ROWS: dict[str, Any] = {
    "sum of rows": lambda x: dnp.sum(x, -1),
    "largest of all": lambda x: dnp.max(x[0]),
    "its place": lambda x: dnp.argmax(x, -1),
    "softmax": nn.softmax,
    "complex": lambda x: dnp.sum(x + 1j, -1),
    "narrow": lambda x: dnp.sum(x.astype("float16"), -1),
    "rows, and columns of fewer": lambda x: (dnp.sum(x, 1), dnp.sum(x[:5], 0)),
}
OTHERS: dict[str, Any] = {
    "nothing": dnp.sin,
    "sum of columns": lambda x: dnp.sum(x, 0),
    "sum of all": dnp.sum,
    "columns, and rows of fewer": lambda x: (dnp.sum(x[:5], 1), dnp.sum(x, 0)),
    "products": lambda x: x @ x.T,
}


def facts(f: Any) -> ModuleFacts:
    return dovetail.jit(f).lower(X)._module.facts()


def passes(module: ModuleFacts, version: tuple[int, ...] = (0, 10, 2)) -> str:
    """The passes that are left out."""
    return options_for(module, lambda name: True, version).get(PASSES, "")


@pytest.mark.parametrize("name", ROWS)
def test_along_rows(name: str) -> None:
    module = facts(ROWS[name])
    assert reduces_along_rows(module)
    assert passes(module) == TREES and passes(module, (0, 11, 0)) == ""


@pytest.mark.parametrize("name", OTHERS)
def test_in_other_ways(name: str) -> None:
    module = facts(OTHERS[name])
    assert not reduces_along_rows(module) and passes(module) == ""


def test_beside_other_passes_and_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    module = facts(lambda x: nn.softmax(lax.optimization_barrier(x)))
    assert passes(module) == f"{BARRIERS},{TREES}"
    monkeypatch.setenv("XLA_FLAGS", f"--{FUSIONS}=LIBRARY_FUSION_TYPE_REDUCE")
    assert passes(module) == BARRIERS
    monkeypatch.setenv("XLA_FLAGS", f"--{PASSES}=fusion")
    assert passes(module) == ""


@pytest.mark.usefixtures("optimized")
@pytest.mark.parametrize("name", [*ROWS, *OTHERS])
def test_values(name: str) -> None:
    f = {**ROWS, **OTHERS}[name]
    x = np.random.RandomState(0).rand(20, 30).astype(np.float32)
    with dovetail.enable_x64(True):
        expected = f(dnp.asarray(x, np.float64))
    rtol = 30 * 2.0**-11 if name == "narrow" else 1e-5
    for a, b in zip(*map(dovetail.tree.leaves, (dovetail.jit(f)(x), expected)), strict=True):
        np.testing.assert_allclose(a, b, rtol=rtol)
