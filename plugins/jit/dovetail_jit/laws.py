"""The law of backends: what a program computes on one agrees with the reference."""

from __future__ import annotations

from typing import Any

from dovetail_backends import evaluate
from dovetail_core import MissingRule, lower_to_lo, lower_values
from dovetail_testing import Law, Sample, assert_close, skip
from dovetail_testing.kernel_laws import arrays_of, assert_types, staged

from .api import jit

_PURPOSE = "asked for by the law of backends"


def backend_law(platform: str) -> Law:
    """The law of a backend: it runs programs of one operation, and agrees with the reference.

    Operations that the reference lacks are compared with the CPU.
    """

    def check(sample: Sample) -> None:
        try:
            result = jit(sample.flat, backend=platform)(*sample.args)
        except MissingRule as e:
            skip(f"{platform} has no rule: {e}")
        if not sample.infer().is_high:
            assert_types(result, sample.infer().avals, f"on {platform}")
        for got, want in zip(arrays_of(result), _expected(sample), strict=True):
            assert_close(got, want, f"on {platform}", factor=256, scale=sample.scale)

    return Law(f"backend {platform}", check, frozenset({"random"}), mixed=False)


def _expected(sample: Sample) -> list[Any]:
    try:
        return list(evaluate(lower_to_lo(staged(sample)), *lower_values(sample.args, _PURPOSE)))
    except MissingRule:
        return list(arrays_of(jit(sample.flat, backend="cpu")(*sample.args)))
