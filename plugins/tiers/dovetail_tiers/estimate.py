"""Estimates of the time that NumPy takes for a program, and that the compiler would."""

from __future__ import annotations

import sys
from math import inf
from typing import Any

from dovetail_backends import reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr, Eqn
from dovetail_remat import work

OPERATION, DECOMPOSED = 10e-6, 100e-6
"""Seconds for an operation of NumPy; for one that it evaluates by its decomposition."""
FLOP, BYTE = 0.5e-9, 0.5e-9
"""Seconds for a floating-point operation, and for each byte of operands and results."""
MODULE = 0.15
"""Seconds to import a module of SciPy."""
COMPILING, KIND, EACH = 20e-3, 5e-3, 0.15e-3
"""Seconds that XLA takes for any program, for each kind of its operations, and for each of them
(``benchmarks/compile_options.py``)."""


class Estimate:
    """Of a program.

    Attributes:
        seconds: for NumPy; infinite where it cannot run the program, or nobody knows how long.
        nbytes: of all values, which NumPy keeps until the end.
        operations, kinds: what the compiler sees: operations of a loop once, and their types.
        modules: what NumPy's rules would import.
    """

    def __init__(self, program: ClosedJaxpr) -> None:
        self.seconds = self.nbytes = 0.0
        self.operations = 0
        self.kinds: set[Any] = set()
        self.modules: set[str] = set()
        for eqn in program.jaxpr.eqns:
            if eqn.primitive.regions is None:
                self._add(eqn)
            else:
                self._add_regions(eqn, eqn.primitive.regions(eqn.params))

    @property
    def first(self) -> float:
        """Seconds for NumPy, with what it has to import."""
        return self.seconds + MODULE * sum(m not in sys.modules for m in self.modules)

    @property
    def compiling(self) -> float:
        """Seconds for the compiler."""
        return COMPILING + KIND * len(self.kinds) + EACH * self.operations

    def _add(self, eqn: Eqn) -> None:
        primitive = eqn.primitive
        ins, outs = [x.aval for x in eqn.invars], [v.aval for v in eqn.outvars]
        self.operations += 1
        self.kinds.add((primitive, *ins, *outs))
        rule = reference_rules.get(primitive)
        if rule is None or stablehlo_rules.is_overridden(primitive):  # the compiled one may differ
            self.seconds = inf
            return
        self.seconds += DECOMPOSED if reference_rules.is_derived(primitive) else OPERATION
        result, effort = work(eqn), getattr(rule, "effort", None)
        self.seconds += result.flops * FLOP + result.bytes * BYTE
        self.nbytes += result.bytes
        if effort is not None:
            self.seconds += OPERATION * (effort.steps(ins, outs) if effort.steps else 0)
            self.modules.update({effort.module} - {""})

    def _add_regions(self, eqn: Eqn, interface: Any) -> None:
        each = [estimate(r.program) for r in interface.regions]
        combine = max if interface.is_choice else sum
        times = interface.length if interface.is_loop else 1
        self.operations += sum(e.operations for e in each)
        self.kinds.update(*(e.kinds for e in each))
        self.modules.update(*(e.modules for e in each))
        if times is None or reference_rules.get(eqn.primitive) is None:
            self.seconds = inf
            return
        self.seconds += OPERATION + times * combine(e.seconds for e in each)
        self.nbytes += combine(e.nbytes for e in each)


def estimate(program: ClosedJaxpr) -> Estimate:
    """The estimate of a program; remembered with it."""
    return program.memo("time of NumPy", lambda: Estimate(program))
