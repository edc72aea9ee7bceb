"""Programs that NumPy computes, one operation after the other, until they are compiled in full.

Nothing is compiled for that, so that the first result comes as soon as a program is traced. Whether
it is worth it is estimated from the numbers of operations and of flops.
"""

from __future__ import annotations

import re
import time
from collections.abc import Sequence
from math import prod
from typing import Any

from dovetail_backends import LoweredModule, evaluate, reference_rules, stablehlo_rules
from dovetail_core import ClosedJaxpr, lower_to_lo
from dovetail_core.interpret.mutable import without_mutable
from dovetail_core.interpret.passes import passes_of, run_passes
from dovetail_core.xla import guards
from dovetail_jit import Interpreter
from dovetail_remat import program_flops

OPERATION, FLOP = 1.5e-5, 2.5e-10
"""Seconds that NumPy takes for each, with what is around it."""
_TENSOR = re.compile(r"tensor<([^>]*)>")
_PLATFORM = "reference"
LONGEST = 0.15
"""Seconds that a call may take, estimated, so that NumPy computes it; after one that took twice as
long the next one waits for the full form."""
WINDOWS = 500
"""So many places may be written by a scatter, for each of which NumPy takes 50 microseconds."""
_SLOW = "stablehlo.sort", "custom_call"
"""NumPy takes long for sorts by several keys. Factorizations have several right results, of which
no function should have two."""
_SCATTER = re.compile(
    r'^[^\n]*"stablehlo\.scatter"\(.*?^\}\)[^\n]* : \(([^)]*)\) ->', re.MULTILINE | re.DOTALL
)


def interpreter(module: LoweredModule, program: ClosedJaxpr) -> Interpreter | None:
    """NumPy's form of a program; None where it takes long, or might compute something else."""
    if passes_of("module") or guards.watches_transfers() or not is_quick(module.text):
        return None
    low = _lowered(program)
    if low.is_high or low.jaxpr.effects:
        return None
    count = operations(low, {})
    if count is None or count * OPERATION > LONGEST:
        return None
    if count * OPERATION + program_flops(low) * FLOP > LONGEST:
        return None

    return Interpreter(_Timed(low).compute)


class _Timed:
    """A program that NumPy computes, unless that took long before."""

    def __init__(self, program: ClosedJaxpr) -> None:
        self.program, self.longest = program, 0.0

    def compute(self, operands: Sequence[Any]) -> Sequence[Any] | None:
        """The results; None where they are to be waited for."""
        if self.longest > 2 * LONGEST:
            return None
        start = time.perf_counter()
        found = evaluate(self.program, *operands)
        self.longest = max(self.longest, time.perf_counter() - start)
        return found


def is_quick(text: str) -> bool:
    """Whether a module lacks what NumPy takes very long for."""
    if any(x in text for x in _SLOW):
        return False
    for types in _SCATTER.findall(text):
        tensors = [x.split("x")[:-1] for x in _TENSOR.findall(types)]
        indices = tensors[len(tensors) // 2]  # between as many arrays and updates of them
        if prod(map(int, indices[:-1])) > WINDOWS:
            return False
    return True


def _lowered(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program on arrays, after its passes, but for those that are for XLA's platforms."""
    program = without_mutable(run_passes("hi", program, _PLATFORM))
    if program.is_high:
        program = lower_to_lo(program)
    return run_passes("ir", program, _PLATFORM)


def operations(program: ClosedJaxpr, known: dict[Any, bool]) -> int | None:
    """How many operations a call runs; None where a loop's length is not known, or NumPy does not
    know an operation. ``known`` remembers of which primitives it does."""
    found = 0
    for eqn in program.jaxpr.eqns:
        primitive = eqn.primitive
        if primitive not in known:
            known[primitive] = _is_known(primitive)
        if not known[primitive]:
            return None
        found += 1
        if primitive.regions is None:
            continue
        inside = primitive.regions(eqn.params)
        if inside.is_loop and (inside.length is None or inside.is_open_ended):
            return None
        counts = [operations(r.program, known) for r in inside.regions]
        if None in counts:
            return None
        found += sum(n or 0 for n in counts) * (inside.length or 0 if inside.is_loop else 1)
    return found


def _is_known(primitive: Any) -> bool:
    """Whether NumPy has a rule, and the CPU no other one than the primitive's own."""
    if stablehlo_rules.is_overridden(primitive):
        return False
    return reference_rules.get(primitive) is not None
