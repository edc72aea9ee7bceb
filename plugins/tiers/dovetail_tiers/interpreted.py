"""Programs that NumPy runs while they are compiled: where that takes much less time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, cast

import numpy as np

from dovetail_backends import LoweredModule, evaluate
from dovetail_core import ClosedJaxpr, float0, lower_to_lo, mutable_values
from dovetail_core.interpret.passes import passes_for, run_passes
from dovetail_xla import guards
from dovetail_xla.arrays import ArrayImpl, put

from .estimate import estimate

SHARE = 0.5
"""Of the time of the compiler: NumPy's must be less, on a machine that has other work, too."""
LARGE = 512e6
"""Bytes: NumPy keeps all values of a program until it has ended, the runtime does not."""


def of(program: ClosedJaxpr, module: LoweredModule) -> ClosedJaxpr | None:
    """A program as NumPy can run it, where it is worth it and gives the results of the compiled
    one; None where it is not, or does not."""
    if guards.watches_transfers() or passes_for("module", module.platform):
        return None
    # What foreign functions do has several right results: factorizations have signs to choose.
    if "custom_call" in module.text:
        return None
    program = mutable_values.discharge(run_passes("hi", program, module.platform))
    if program.is_high:
        program = lower_to_lo(program)
    program = run_passes("ir", program, module.platform)
    avals: Any = (*program.in_avals, *program.out_avals)
    if any(a.is_mutable or a.dtype == float0 for a in avals):
        return None
    result = estimate(program)
    if result.nbytes > LARGE or result.first > SHARE * result.compiling:
        return None
    return program


class Interpreted:
    """Stands in for the runtime's executable of a program, on the arrays that it would take.

    Args:
        compile: compiles the program here, for the case that NumPy's rules fail.
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
        """Run it; the results are there when this returns."""
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
    """Values that NumPy has computed, as the runtime's results; then ``donated`` ones are gone."""

    def __init__(
        self, program: ClosedJaxpr, values: Sequence[Any], device: Any, donated: Sequence[ArrayImpl]
    ) -> None:
        self._program, self._values, self._device = program, values, device
        self._donated = donated

    def consume_with_handlers(self, handlers: Sequence[Any]) -> list[Any]:
        """The arrays that the handlers make of them."""
        triples = zip(handlers, self._values, self._program.out_avals, strict=True)
        outs = [handler([put(x, aval, self._device)]) for handler, x, aval in triples]
        for x in self._donated:
            x.delete()
        return outs
