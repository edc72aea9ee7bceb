"""The law of the table ``remat.cost``."""

from __future__ import annotations

from math import isfinite

from dovetail_testing import Sample, law
from dovetail_testing.kernel_laws import staged

from .model import program_flops, work


@law("cost", mixed=False)
def cost_law(sample: Sample) -> None:
    """Work is finite and not negative, and the work of a program is the sum over its operations."""
    program = staged(sample)
    works = [work(e) for e in program.eqns]
    for w in works:
        assert isfinite(w.flops) and w.flops >= 0, f"{w.flops} flops"
        assert isfinite(w.bytes) and w.bytes >= 0, f"{w.bytes} bytes"
    assert program_flops(program) == sum(w.flops for w in works)
