"""The law of the table ``stochastic.rounding``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import ShapedArray, is_inexact, lift_call, registry, stage_closed
from dovetail_testing import Sample, assert_close, law, skip

from .machine import CARRIER


def _speaks_of(sample: Sample) -> bool:
    return any(is_inexact(getattr(a, "dtype", None)) for a in sample.avals)


@law("rounding", applies=_speaks_of)
def rounding_law(sample: Sample) -> None:
    """A machine computes values of the types of the results. With the seed 0, which says that all
    is exact, it computes what the operation computes; with another, where the operation is defined,
    nothing that is not a number."""

    if sample.primitive.traits.effect_only:
        skip("it computes no value")

    def machine(seed: Any, *args: Any) -> list[Any]:
        return [x for x, _ in lift_call(CARRIER, sample.flat, [(x, seed) for x in args])]

    plain = stage_closed(sample.flat, sample.avals)
    lifted = stage_closed(machine, [ShapedArray((), np.dtype(np.uint32)), *sample.avals])
    types = [[a.strong() for a in p.out_avals] for p in (plain, lifted)]
    assert types[0] == types[1], f"{types[1]} in place of {types[0]}"
    run = registry().backend("reference").run
    try:
        expected = run(plain, list(sample.args))
    except NotImplementedError:
        skip("the reference backend does not run it")
    exact, moved = (run(lifted, [np.uint32(seed), *sample.args]) for seed in (0, 1))
    for x, y, z in zip(exact, expected, moved, strict=True):
        assert_close(x, y, scale=sample.scale)
        if "extreme" not in sample.tags and is_inexact(np.asarray(y).dtype):
            assert np.all(np.isnan(z) <= np.isnan(y)), f"{z} in place of {y}"
