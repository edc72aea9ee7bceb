"""Decompositions give results of exactly the types that the primitive's type rule says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from dovetail_base.options import enable_checks
from dovetail_core import Primitive, ShapedArray, stage_closed
from dovetail_testing.samples import Sample, all_samples

WEAK = (np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.complex64))  # of Python's numbers
ROWS: dict[Primitive, list[Sample]] = {}
for _, _sample in all_samples():
    if _sample.primitive.decomposition is not None:
        ROWS.setdefault(_sample.primitive, []).append(_sample)


def check(sample: Sample, avals: Sequence[Any]) -> None:
    p, params = sample.primitive, dict(sample.params)
    wanted = p.infer(tuple(avals), params).avals

    def f(*xs: Any) -> list[Any]:
        out = p.decomposition(*xs, **params)  # type: ignore[misc]
        return list(out) if p.multiple_results else [out]

    with enable_checks(True):
        result = stage_closed(f, avals, p.name).out_avals
    assert list(result) == list(wanted), f"{p.name} of {avals} with {params}"


@pytest.mark.parametrize("primitive", ROWS, ids=lambda p: p.name)
def test_types_of_decompositions(primitive: Primitive) -> None:
    """Of strongly and of weakly typed operands."""
    seen: set[Any] = set()
    for sample in ROWS[primitive]:
        if sample.avals in seen or len(seen) > 20:
            continue
        seen.add(sample.avals)
        check(sample, sample.avals)
        weak = [a.update(weak_type=a.dtype in WEAK) for a in sample.avals if type(a) is ShapedArray]
        if len(weak) == len(sample.avals):
            check(sample, weak)
