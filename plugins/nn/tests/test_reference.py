"""Values, derivatives and types of ``nn`` are those of JAX 0.10.2, at kinks and infinities too."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dovetail_nn as nn
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_ad import grad
from dovetail_batching import vmap

HERE = Path(__file__).parent
spec = importlib.util.spec_from_file_location("nn_reference", HERE / "reference.py")
assert spec is not None and spec.loader is not None
reference = importlib.util.module_from_spec(spec)
spec.loader.exec_module(reference)
VALUES: dict[str, list[Any]] = json.loads((HERE / "reference.json").read_text())
NAMES = reference.Names(nn, numpy=dnp, array=dnp.asarray, grad=grad, vmap=vmap, key=random.key)
TOLERANCE = {"bfloat16": 2e-2, "float32": 2e-6, "complex64": 2e-6}


@pytest.mark.parametrize("case", VALUES)
def test_values(case: str) -> None:
    """A case has the dtype, shape and values that were recorded, weak typing included."""
    dtype, weak, shape, wanted = VALUES[case]
    value = reference.evaluate(NAMES, case)
    result = reference.record(value)
    assert result[:3] == [dtype, weak, shape]
    tolerance = TOLERANCE.get(dtype, 0.0)
    numbers = ([float(x) for x in xs] for xs in (result[3], wanted))
    # Derivatives are sums of what cancels.
    atol = 1e-5 if "grad" in case else tolerance / 2
    np.testing.assert_allclose(*numbers, rtol=tolerance, atol=atol)


def test_the_cases_are_those_of_the_file() -> None:
    """The file was written by the script that is beside it."""
    assert list(VALUES) == list(dict.fromkeys(reference.cases()))
