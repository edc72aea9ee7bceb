"""The law of rules of key reuse: operands used up are keys, results passed on equal operands."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import typeof
from dovetail_testing import Sample, law
from dovetail_testing.kernel_laws import arrays_of

from .table import Operand, is_of_keys, reuse_rules


def _has_keys(sample: Sample) -> bool:
    return any(is_of_keys(a) for a in sample.avals) and sample.primitive.regions is None


@law("key_reuse", applies=_has_keys, mixed=False)
def key_reuse_law(sample: Sample) -> None:
    """Operands that are used up are keys, with concrete values of the others or without; a result
    that a rule calls an operand has its words."""
    rule = reuse_rules.rules.get(sample.primitive) or reuse_rules.miss(sample.primitive)
    outs = sample.flat(*sample.args)
    for values in ([None] * len(sample.args), _numbers(sample)):
        operands = [Operand(a, v) for a, v in zip(sample.avals, values)]
        uses = rule(*operands, **sample.params)
        for i, elements in uses.used.items():
            aval: Any = sample.avals[i]
            assert is_of_keys(aval), f"operand {i}, {aval.str_short()}, is used up by the rule"
            assert elements is True or elements.shape == aval.shape
        for j, i in uses.passed_on.items():
            for x, y in zip(arrays_of([outs[j]]), arrays_of([sample.args[i]]), strict=True):
                assert np.array_equal(x, y), f"result {j} is not operand {i}"


def _numbers(sample: Sample) -> list[Any]:
    return [None if is_of_keys(typeof(x)) or np.ndim(x) else x for x in sample.args]
