"""Control flow, written once: a forward-style transformation's cells for rows with sub-programs.

From a primitive's ``Form`` and a transformation's ``Carrier`` this derives the cell: fixed points
of loops, joins of branches, predicates that are themselves lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, TypeVar

from .evaluate import jaxpr_as_fun
from .ir import ClosedJaxpr
from .lift import lift_call, lift_function, lift_program
from .primitive import Primitive
from .structure import CONTROL, Carrier, Form, Region, SetCarrier
from .uncertain_loops import UncertainLoop

V = TypeVar("V")
LiftedRule = Callable[[Carrier[Any, Any], Sequence[Any], dict[str, Any]], Any]


def derive(primitive: Primitive) -> LiftedRule | None:
    """The cell that follows from the primitive's form, or else from its decomposition."""
    if primitive.form is not None:
        return lambda carrier, args, params: lift_form(carrier, primitive, args, params)
    decomposition = primitive.decomposition
    if decomposition is not None:
        return lambda carrier, args, params: lift_call(
            carrier, lambda *xs: decomposition(*xs, **params), args
        )
    return None


def lift_form(
    carrier: Carrier[V, Any], primitive: Primitive, args: Sequence[V], params: dict[str, Any]
) -> list[V]:
    """Apply a primitive that holds sub-programs to lifted operands."""
    assert primitive.form is not None
    form = primitive.form(params)
    if form.control is not None and carrier.known(args[form.control]) is None:
        return _all_regions(carrier, form, args, args[form.control])
    return _Lifting(carrier, primitive, form, args).run()


def _all_regions(carrier: Carrier[V, Any], form: Form, args: Sequence[V], index: V) -> list[V]:
    """A lifted index selects no single region: run all of them and choose among their results."""
    cases = [
        lift_call(carrier, jaxpr_as_fun(r.program), [args[i] for i in r.operands])
        for r in form.regions
    ]
    return [carrier.choose(index, case) for case in zip(*cases)]


class _Lifting(Generic[V]):
    """One application: ``ins`` and ``outs`` are the structures of operands and results."""

    def __init__(
        self, carrier: Carrier[V, Any], primitive: Primitive, form: Form, args: Sequence[V]
    ) -> None:
        self.carrier = carrier
        self.primitive = primitive
        self.form = form
        self.args = args
        self.ins = [carrier.structure(a, int(i in form.sliced)) for i, a in enumerate(args)]
        self.outs: dict[int, Any] = {}
        self.predicate: Any = None  # structure of a loop's predicate where it is lifted

    def run(self) -> list[V]:
        self._fixed_point()
        if self.predicate is not None and isinstance(self.carrier, SetCarrier):
            loop = UncertainLoop(self.carrier, self.form, self.ins, self.predicate)
            return loop.run(self.primitive, self.args)
        programs = [self._program(r) for r in self.form.regions]
        flat, widths = self._operands()
        out_widths = [self._width(i) for i in sorted(self.outs)]
        params = self.form.rebuild(programs, widths, out_widths)
        results = self.primitive.bind(*flat, **params)
        return self._results(results, out_widths)

    def _operands(self) -> tuple[list[Any], list[int]]:
        flat: list[Any] = []
        widths: list[int] = []
        for i, (a, s) in enumerate(zip(self.args, self.ins)):
            if i == self.form.control:
                arrays: tuple[Any, ...] = (self.carrier.known(a),)
            else:
                arrays = self.carrier.arrays(a, s, int(i in self.form.sliced))
            flat.extend(arrays)
            widths.append(len(arrays))
        return flat, widths

    def _results(self, results: Sequence[Any], widths: Sequence[int]) -> list[V]:
        out: list[V] = []
        at = 0
        for i, n in zip(sorted(self.outs), widths):
            depth = int(i in self.form.stacked)
            out.append(self.carrier.value(results[at : at + n], self.outs[i], depth))
            at += n
        return out

    def _width(self, result: int) -> int:
        region = next(r for r in self.form.regions if result in r.results)
        aval = region.program.out_avals[region.results.index(result)]
        return len(self.carrier.types(aval, self.outs[result]))

    def _fixed_point(self) -> None:
        """Raise the loop's structures until one more pass through the body adds nothing."""
        while True:
            self.outs, self.predicate = {}, None
            for region in self.form.regions:
                self._join_outputs(region)
            changed = False
            for result, operand in self.form.loop:
                joined = self.carrier.join(self.ins[operand], self.outs[result])
                if self.predicate is not None and not isinstance(self.carrier, SetCarrier):
                    # The predicate chooses between old and new.
                    joined = self.carrier.join(joined, self.predicate)
                changed = changed or joined != self.ins[operand]
                self.ins[operand] = self.outs[result] = joined
            if not changed:
                return

    def _join_outputs(self, region: Region) -> None:
        found = lift_program(self.carrier, region.program, self._region_ins(region))[1]
        for result, structure in zip(region.results, found):
            if result == CONTROL:
                pure = self.carrier.structure(self.carrier.pure(False), 0)
                self.predicate = None if structure == pure else structure
            elif result in self.outs:
                self.outs[result] = self.carrier.join(self.outs[result], structure)
            else:
                self.outs[result] = structure

    def _region_ins(self, region: Region) -> tuple[Any, ...]:
        return tuple(self.ins[i] for i in region.operands)

    def _program(self, region: Region) -> ClosedJaxpr:
        ins = self._region_ins(region)
        if CONTROL in region.results:
            if self.predicate is None:
                return lift_program(self.carrier, region.program, ins)[0]
            return self._lift(self._may_go_on(region), region, ins, None)
        wanted = tuple(self.outs[r] for r in region.results)
        if self.predicate is None:
            return lift_program(self.carrier, region.program, ins, wanted)[0]
        return self._lift(self._guarded(region), region, ins, wanted)

    def _lift(
        self, f: Callable[..., Sequence[V]], region: Region, ins: tuple[Any, ...], wanted: Any
    ) -> ClosedJaxpr:
        name = region.program.jaxpr.name
        return lift_function(self.carrier, f, region.program.in_avals, ins, wanted, name)[0]

    def _may_go_on(self, condition: Region) -> Callable[..., Sequence[V]]:
        """The loop goes on while its lifted predicate may hold for some element."""
        carrier, f = self.carrier, jaxpr_as_fun(condition.program)
        return lambda *a: [carrier.pure(carrier.may(lift_call(carrier, f, a)[0]))]

    def _guarded(self, body: Region) -> Callable[..., Sequence[V]]:
        """The lifted predicate chooses, element by element, between the old and the new carry."""
        carrier, step = self.carrier, jaxpr_as_fun(body.program)
        condition = next(r for r in self.form.regions if CONTROL in r.results)
        test = jaxpr_as_fun(condition.program)
        operand_of = dict(self.form.loop)

        def guarded(*values: V) -> list[V]:
            predicate = lift_call(carrier, test, values)[0]
            new = lift_call(carrier, step, values)
            old = [values[body.operands.index(operand_of[r])] for r in body.results]
            return [carrier.choose(predicate, pair) for pair in zip(old, new)]

        return guarded
