"""Programs that NumPy runs while they are compiled: where that takes much less time."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from math import inf
from typing import Any, cast

import numpy as np

from dovetail_backends import LoweredModule, evaluate, reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr, Eqn, float0, lower_to_lo, mutable_values, passes
from dovetail_cost import work
from dovetail_xla import guards
from dovetail_xla.arrays import ArrayImpl, put

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
    """An estimate of the time that NumPy takes for a program, and of the compiler's.

    Attributes:
        seconds: of NumPy; infinite if it cannot run the program, or if the time is not known.
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
        """Seconds of NumPy at the first run, imports included."""
        return self.seconds + MODULE * sum(m not in sys.modules for m in self.modules)

    @property
    def compiling(self) -> float:
        """Seconds of the compiler."""
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
    """Return the estimate of a program, which is remembered with it."""
    return program.memo("time of NumPy", lambda: Estimate(program))


SHARE = 0.5
"""Of the time of the compiler: NumPy's must be less, on a machine that has other work, too."""
LARGE = 512e6
"""Bytes: NumPy keeps all values of a program until it has ended, the runtime does not."""


def interpretable(program: ClosedJaxpr, module: LoweredModule) -> ClosedJaxpr | None:
    """Return a program as NumPy can run it, with the results of the compiled one; None if it
    cannot, or if that would take too long."""
    if guards.watches_transfers() or passes.passes_for("module", module.platform):
        return None
    # What foreign functions do has several right results: factorizations have signs to choose.
    facts = module.facts()
    if facts is None or "custom_call" in facts.computations:
        return None
    program = mutable_values.discharge(passes.run_passes("hi", program, module.platform))
    if program.is_high:
        program = lower_to_lo(program)
    program = passes.run_passes("ir", program, module.platform)
    avals: Any = (*program.in_avals, *program.out_avals)
    if any(a.is_mutable or a.dtype == float0 for a in avals):
        return None
    result = estimate(program)
    if result.nbytes > LARGE or result.first > SHARE * result.compiling:
        return None
    return program


class Interpreted:
    """Runs a program by NumPy, with the interface of the runtime's executable.

    Args:
        compile: compiles the program in this process, for the case that NumPy's rules fail.
    """

    def __init__(
        self,
        program: ClosedJaxpr,
        module: LoweredModule,
        device: Any,
        compile: Callable[[str], Any],
    ) -> None:
        self._program, self._device, self._compile = program, device, compile
        self._constants, self._kept = len(module.const_args), module.kept
        self._donated = module.donated
        self._compiled: Any = None
        self._patience = 2 * SHARE * estimate(program).compiling
        self._is_slow = False

    def execute_sharded(self, arrays: Sequence[ArrayImpl]) -> Any:
        """Run the program; returns when the results are there."""
        if self._compiled is None and not self._is_slow and not guards.watches_transfers():
            start = time.perf_counter()
            with suppress(Exception):  # of a rule: the compiler's answer is the one that counts
                result = self._evaluate(arrays)
                self._is_slow = time.perf_counter() - start > self._patience
                own = zip(arrays[self._constants :], self._donated)
                donated = [x for x, is_donated in own if is_donated]
                return _Results(self._program, result, self._device, donated)
        if self._compiled is None:
            self._compiled = self._compile("quick")
        return self._compiled.execute_sharded(arrays)

    def _evaluate(self, arrays: Sequence[ArrayImpl]) -> Sequence[Any]:
        given, avals = iter(arrays[self._constants :]), cast("list[Any]", self._program.in_avals)
        operands = [
            np.asarray(next(given)) if keep else np.zeros(aval.shape, aval.dtype)
            for keep, aval in zip(self._kept, avals)
        ]
        return evaluate(self._program, *operands)


class _Results:
    """Values that NumPy has computed, with the interface of the runtime's results.

    Arrays that are ``donated`` are deleted when the results are taken.
    """

    def __init__(
        self, program: ClosedJaxpr, values: Sequence[Any], device: Any, donated: Sequence[ArrayImpl]
    ) -> None:
        self._program, self._values, self._device = program, values, device
        self._donated = donated

    def consume_with_handlers(self, handlers: Sequence[Any]) -> list[Any]:
        """Return the arrays that the handlers make of them."""
        triples = zip(handlers, self._values, self._program.out_avals, strict=True)
        outs = [handler([put(x, aval, self._device)]) for handler, x, aval in triples]
        for x in self._donated:
            x.delete()
        return outs
