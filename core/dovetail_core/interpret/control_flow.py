"""Control flow, written once: a forward-style transformation's rules for rows with sub-programs.

From a primitive's ``Form`` and a transformation's ``Carrier`` this derives the rule: fixed points
of loops, joins of branches, predicates that are themselves lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from ..base.errors import MissingRule
from ..base.source import current_source, describe
from ..dispatch.primitive import Primitive
from ..ir.programs import ClosedJaxpr
from ..ir.regions import CONTROL, Carrier, Form, Region, SetCarrier
from ..rules.evaluation import jaxpr_as_fun
from ..rules.tables import within
from ..types.avals import AbstractValue
from .lifting import lift_call, lift_function, lift_program
from .mutable import writes
from .uncertain_loops import UncertainLoop

V = TypeVar("V")
LiftedRule = Callable[[Carrier[Any, Any], Sequence[Any], dict[str, Any]], Any]


def derive(primitive: Primitive) -> LiftedRule | None:
    """The rule that follows from the primitive's form, or else from its decomposition.

    A primitive that says itself how it is lifted is asked.
    """
    if primitive.lift is not None:
        return primitive.lift
    if primitive.form is not None:
        lift = lift_form
    elif primitive.decomposition is not None:
        lift = _lift_decomposition
    else:
        return None

    def rule(carrier: Carrier[Any, Any], args: Sequence[Any], params: dict[str, Any]) -> Any:
        try:
            return lift(carrier, primitive, args, params)
        except MissingRule as e:
            raise within(e, primitive) from None

    return rule


def _lift_decomposition(
    carrier: Carrier[V, Any], primitive: Primitive, args: Sequence[V], params: dict[str, Any]
) -> Any:
    decomposition = primitive.decomposition
    assert decomposition is not None
    return lift_call(carrier, lambda *xs: decomposition(*xs, **params), args)


def lift_form(
    carrier: Carrier[V, Any], primitive: Primitive, args: Sequence[V], params: dict[str, Any]
) -> list[V]:
    """Apply a primitive that holds sub-programs to lifted operands."""
    assert primitive.form is not None
    form: Form = primitive.form(params)
    if form.control is not None and carrier.known(args[form.control]) is None:
        return _all_regions(carrier, form, args, args[form.control])
    ins = [carrier.structure(a, int(i in form.sliced)) for i, a in enumerate(args)]
    return _Lifting(carrier, form, ins).run(primitive, args)


class LiftedForm(NamedTuple):
    """What a primitive with sub-programs becomes: parameters, and structures at the fixed point."""

    params: dict[str, Any]
    operands: tuple[Any, ...]
    results: tuple[Any, ...]


def lift_structures(
    carrier: Carrier[Any, Any], form: Form, structures: Sequence[Any]
) -> LiftedForm:
    """The lifted parameters for operands of given structures, which loops may raise.

    For primitives that hold the sub-programs of another one (passes over a loop, say) and have
    operands or results of their own.
    """
    return _Lifting(carrier, form, structures).described()


def _all_regions(carrier: Carrier[V, Any], form: Form, args: Sequence[V], index: V) -> list[V]:
    """A lifted index selects no single region: run all of them and choose among their results."""
    for region in form.regions:
        _refuse_writes(region, "an index or predicate", "all of its branches run")
    cases = [
        lift_call(carrier, jaxpr_as_fun(r.program), [args[i] for i in r.operands])
        for r in form.regions
    ]
    return [carrier.choose(index, case) for case in zip(*cases)]


def _refuse_writes(region: Region, what: str, why: str) -> None:
    found = writes(region.program.effects)
    if found:
        aval = region.program.in_avals[found[0].input_index]
        name = region.program.jaxpr.name or "a sub-program"
        raise TypeError(
            f"{name} writes to {aval.str_short()} under {what} that is itself mapped or uncertain"
            f"{describe(current_source())}: {why}, so that the write would happen where it should "
            "not. Return the value and write it outside, or map over the reference, too."
        )


class _Lifting(Generic[V]):
    """One application: ``ins`` and ``outs`` are the structures of operands and results."""

    def __init__(self, carrier: Carrier[V, Any], form: Form, ins: Sequence[Any]) -> None:
        self.carrier = carrier
        self.form = form
        self.ins = list(ins)
        self.outs: dict[int, Any] = {}
        self.predicate: Any = None  # structure of a loop's predicate where it is lifted

    def run(self, primitive: Primitive, args: Sequence[V]) -> list[V]:
        self._fixed_point()
        if self.predicate is not None and isinstance(self.carrier, SetCarrier):
            loop = UncertainLoop(self.carrier, self.form, self.ins, self.predicate)
            return loop.run(primitive, args)
        flat, widths = self._operands(args)
        out_widths = [self._width(i) for i in sorted(self.outs)]
        results = primitive.bind(*flat, **self._params(widths, out_widths))
        return self._results(results, out_widths)

    def described(self) -> LiftedForm:
        """Parameters and structures, for operands of given structures."""
        self._fixed_point()
        assert self.predicate is None or not isinstance(self.carrier, SetCarrier)
        types = self._in_types()
        widths = [len(self.carrier.types(types[i], s)) for i, s in enumerate(self.ins)]
        results = sorted(self.outs)
        params = self._params(widths, [self._width(i) for i in results])
        return LiftedForm(params, tuple(self.ins), tuple(self.outs[i] for i in results))

    def _params(self, widths: Sequence[int], out_widths: Sequence[int]) -> dict[str, Any]:
        programs = [self._program(r) for r in self.form.regions]
        return self.form.rebuild(programs, widths, out_widths)

    def _in_types(self) -> dict[int, AbstractValue]:
        pairs = [zip(r.operands, r.program.in_avals) for r in self.form.regions]
        return {i: a for found in pairs for i, a in found}

    def _operands(self, args: Sequence[V]) -> tuple[list[Any], list[int]]:
        flat: list[Any] = []
        widths: list[int] = []
        for i, (a, s) in enumerate(zip(args, self.ins)):
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
        _refuse_writes(
            body, "a predicate", "its body also runs after some of its elements are done"
        )
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
