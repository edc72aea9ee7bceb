"""The law of the table ``roofline.cost``."""

from __future__ import annotations

from math import isfinite

from dovetail_core import stage_closed
from dovetail_core.testing import Sample, law

from .cost import nbytes
from .counting import Counter
from .machine import Machine


@law("roofline")
def cost_law(sample: Sample) -> None:
    """Costs are finite and not negative; an operation that holds no programs writes no more than
    twice its results and what it is given."""
    program = stage_closed(sample.flat, sample.avals)
    counter = Counter(Machine(1.0, 1.0), trips=2, branches="all")
    operations, lines = counter.program(program, 1)
    for e in (*operations, *lines):
        for n in (e.flops, e.transcendentals, e.read, e.written):
            assert isfinite(n) and n >= 0, f"{n} in {e}"
    own = {eqn.primitive.name for eqn in program.eqns}
    most = 2 * sum(map(nbytes, (*program.in_avals, *program.out_avals)))
    for e in operations:
        assert e.what not in own or e.written <= most, f"{e.written} bytes are written by {e}"
