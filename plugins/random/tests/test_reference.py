"""Draws are bit for bit those of JAX 0.10.2 for the same key, shape and dtype."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_random.threefry import threefry_partitionable

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("random_reference", HERE / "reference.py")
assert spec is not None and spec.loader is not None
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)
VALUES: dict[str, dict[str, Any]] = json.loads((HERE / "reference.json").read_text())
SETTINGS = SimpleNamespace(enable_x64=enable_x64, threefry_partitionable=threefry_partitionable)
EXACT = [(group, case) for group, cases in VALUES.items() if group != "close" for case in cases]
EPSILONS = 16
"""The tolerance, in units of the last digit, of values computed by logarithms and the like."""


@pytest.mark.parametrize(("group", "case"), EXACT)
def test_bits(group: str, case: str) -> None:
    """Values made of integer operations and single roundings are equal in every bit."""
    with reference.setting(SETTINGS, group):
        result = reference.evaluate(random, dnp.asarray, vmap, case)
    assert reference.record(result, True) == VALUES[group][case]


@pytest.mark.parametrize("case", VALUES["close"])
def test_values(case: str) -> None:
    """Values that depend on how a processor rounds logarithms are equal but for that."""
    wanted = reference.recall(VALUES["close"][case])
    result = reference.evaluate(random, dnp.asarray, vmap, case)
    assert (result.dtype, result.shape) == (wanted.dtype, wanted.shape)
    if result.dtype.kind in "iu":
        assert result.tolist() == wanted.tolist()
        return
    eps = EPSILONS * float(reference.ml_dtypes.finfo(result.dtype).eps)
    wide = np.complex128 if result.dtype.kind == "c" else np.float64
    np.testing.assert_allclose(result.astype(wide), wanted.astype(wide), rtol=eps, atol=eps / 16)


def test_the_cases_are_those_of_the_file() -> None:
    """The file was written by the script that is beside it."""
    assert {g: list(v) for g, v in VALUES.items()} == {
        g: list(cases()) for g, cases in reference.GROUPS.items()
    }
