"""Discharge of references in regions: contents are operands, loop variables, and results.

A reference that a loop's body writes becomes a loop variable, one that it only reads a constant. If
each iteration has a slice of it, final contents are stacked. Branches and calls return the contents
of references that they write; a branch that does not write a reference that another one writes
returns the contents unchanged. All of this follows from the regions of a primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import (
    CONTROL,
    Kind,
    Part,
    Primitive,
    Region,
    RegionInterface,
    Slot,
    Trace,
    assemble,
    here,
    mutable_values,
    rewriting,
    run_under,
    type_shardings,
    typeof,
)

from .discharging import DischargeTrace, discharge_program
from .tables import discharge_rules


@discharge_rules.deriver
def derive_discharge(primitive: Primitive) -> Callable[..., Any] | None:
    """The rule that follows from a primitive's regions, or from its decomposition."""
    if primitive.regions is not None:
        return lambda trace, args, params: _Discharge(primitive, trace, args, params).run()
    decomposition = primitive.decomposition
    if decomposition is not None:
        return lambda trace, args, params: decomposition(*args, **params)
    return None


class _Discharge:
    """One application; ``written`` are its operands that are written."""

    def __init__(
        self, primitive: Primitive, trace: Trace, args: Sequence[Any], params: dict[str, Any]
    ) -> None:
        self.primitive = primitive
        self.trace = trace
        self.own = [mutable_values.is_local(trace, x) for x in args]
        unique = rewriting.same_operands(primitive, args, self.own)
        if unique is not None:  # one reference is several operands
            params = rewriting.merge_operands(primitive, params, unique)
            args = [x for i, x in enumerate(args) if unique[i] == i]
            self.own = [mutable_values.is_local(trace, x) for x in args]
        self.interface: RegionInterface = primitive.regions(params)  # type: ignore[misc]
        self.args = args
        keeps = not isinstance(trace, DischargeTrace) or trace.keeps_rules
        self.discharged = [
            discharge_program(r.program, [self.own[i] for i in r.operands], keeps)
            for r in self.interface.regions
        ]
        self.written = self._written()
        self.groups = [self._contents(i) for i in range(len(args))]
        self.finals = {i: self._finals(i) for i in self.written}

    def _written(self) -> list[int]:
        """The operands that some region writes.

        Raises:
            TypeError: a region that must not write does.
        """
        title = self.interface.title or self.primitive.name
        written_operands: set[int] = set()
        for region, (_, written) in zip(self.interface.regions, self.discharged):
            operands = [region.operands[k] for k in written]
            written_operands.update(operands)
            shared = [i for i in operands if not self._is_sliced(i)]
            if operands and CONTROL in region.results:
                raise TypeError(
                    f"the condition of {title} writes to "
                    f"{self.args[operands[0]].aval.str_short()}{here()}: it may only read. Write "
                    "in the body."
                )
            if shared and self.interface.runs == "in any order":
                raise TypeError(
                    f"a sub-program of {title} writes to "
                    f"{self.args[shared[0]].aval.str_short()}{here()}: it runs in any order, so "
                    "that what is written last is not defined. Return the value and write it "
                    "outside."
                )
        return sorted(written_operands)

    def _is_sliced(self, i: int) -> bool:
        """True if each iteration has a slice of an operand of its own."""
        return self.interface.operands[i] is Kind.SLICED

    def _contents(self, i: int) -> list[Slot]:
        """Slots for an operand; for the contents of a reference."""
        kind, x = self.interface.operands[i], self.args[i]
        if not self.own[i]:
            return [Slot(kind, x, i)]
        carried = self.interface.is_loop and i in self.written and not self._is_sliced(i)
        return [Slot(Kind.CARRIED if carried else kind, held, i) for held in x.contents]

    def _finals(self, i: int) -> list[Slot]:
        """Slots for the final contents of an operand."""
        if self._is_sliced(i):
            return [Slot(Kind.STACKED) for _ in self.groups[i]]
        if self.interface.is_loop:
            return self.groups[i]
        before = self.groups[i]
        if self.interface.is_choice:
            return [Slot(Kind.PLAIN, otherwise=s) for s in before]
        return [Slot(Kind.PLAIN) for _ in self._final_type(i).content_types()]

    def _final_type(self, i: int) -> Any:
        """The final type of a written operand, which changes in calls only."""
        region = self.interface.regions[0]
        if self.interface.is_loop or self.interface.is_choice:
            return self.args[i].aval
        return mutable_values.final_type(region.program, region.operands.index(i))

    def run(self) -> list[Any]:
        """Apply the primitive to contents, and update the contents of written operands."""
        slots = [s for group in self.groups for s in group]
        shared = [i for i in self.written if not self._is_sliced(i)]
        carried = {s: None for i in shared for s in self.groups[i]}  # in order
        operands = [*(s for s in slots if s not in carried), *carried]
        results = [Slot(kind) for kind in self.interface.results]
        for r, i in self.interface.loop:
            results[r] = self.groups[i][0]
        parts = [self._part(r, f, results) for r, f in zip(self.interface.regions, self.discharged)]
        further = [s for final in self.finals.values() for s in final]
        made = assemble(self.interface.rebuild, parts, operands, [*results, *further])
        # Contents under a DischargeTrace are values of its parent; in others of the trace itself.
        trace = self.trace.parent if isinstance(self.trace, DischargeTrace) else self.trace
        values = run_under(trace, made.bind, self.primitive)
        for i, final in self.finals.items():
            aval = self.args[i].aval = self._final_type(i)
            held = zip([values[s] for s in final], aval.content_types())
            self.args[i].contents[:] = [type_shardings.like_type(x, t, typeof(x)) for x, t in held]
        return [values[s] for s in results]

    def _part(
        self, region: Region, result: mutable_values.Discharged, results: Sequence[Slot]
    ) -> Part:
        ins = [s for i in region.operands for s in self.groups[i]]
        outs = [r if r == CONTROL else results[r] for r in region.results]
        finals = [s for k in result.written for s in self.finals[region.operands[k]]]
        return Part(result.program, ins, [*outs, *finals])
