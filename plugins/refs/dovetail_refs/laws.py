"""The law of discharge: discharged programs compute the same as programs with references."""

from __future__ import annotations

import numpy as np

from dovetail_core import eval_jaxpr, mutable_values, stage_closed
from dovetail_testing import Sample, law

from .discharging import discharge


def _makes_references(sample: Sample) -> bool:
    program = sample.params.get("jaxpr")
    return program is not None and mutable_values.has_mutable(program)


@law("discharge", applies=_makes_references, mixed=False)
def discharge_law(sample: Sample) -> None:
    """Results agree with those of the operations evaluated one by one, on concrete references."""
    inner = sample.params["jaxpr"]
    want = eval_jaxpr(inner.jaxpr, inner.consts, *sample.args)
    pure = discharge(stage_closed(sample.flat, sample.avals))
    assert not mutable_values.has_mutable(pure), pure
    result = eval_jaxpr(pure.jaxpr, pure.consts, *sample.args)
    for a, b in zip(want, result, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)
