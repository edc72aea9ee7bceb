"""Control flow: a forward-style transformation's rules for primitives that hold sub-programs.

From a primitive's regions and a transformation's ``Carrier`` this derives the rule: fixed points of
loops, joins of branches, predicates that are themselves lifted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from dovetail_base.errors import MissingRule
from dovetail_base.source import current_source, describe

from ..dispatch.primitive import Primitive
from ..ir.programs import ClosedJaxpr, Eqn, open_program, walk_programs
from ..ir.regions import CONTROL, Operand, Region, RegionInterface
from ..ir.rewriting import bind_rewritten
from ..rules.evaluation import jaxpr_as_fun
from ..rules.staging import stage_closed
from ..types.avals import AbstractValue
from ..types.effects import must_be_kept, write_effects
from ..types.typeof import typeof
from .carrier import Carrier
from .interpreter import Interpreter
from .lifting import carrier_key, lift_call, lift_function, lift_program

V = TypeVar("V")
LiftedRule = Callable[[Carrier[Any, Any], Sequence[Any], dict[str, Any]], Any]


def derive(primitive: Primitive) -> LiftedRule | None:
    """The rule that follows from the primitive's regions, or else from its decomposition.

    A primitive's own ``lift`` comes first. One that has only an effect is applied once, to
    untransformed values (``Carrier.primal``).
    """
    if primitive.lift is not None:
        return primitive.lift
    if primitive.traits.effect_only:
        return partial(_happen_once, primitive)
    if primitive.regions is not None:
        lift = lift_regions
    elif primitive.decomposition is not None:
        lift = _lift_decomposition
    else:
        return None

    def rule(carrier: Carrier[Any, Any], args: Sequence[Any], params: dict[str, Any]) -> Any:
        try:
            return lift(carrier, primitive, args, params)
        except MissingRule as e:
            raise e.used_by(primitive) from None

    return rule


def _lift_decomposition(
    carrier: Carrier[V, Any], primitive: Primitive, args: Sequence[V], params: dict[str, Any]
) -> Any:
    decomposition = primitive.decomposition
    assert decomposition is not None
    return lift_call(carrier, lambda *xs: decomposition(*xs, **params), args)


def _happen_once(
    primitive: Primitive, carrier: Carrier[V, Any], args: Sequence[V], params: dict[str, Any]
) -> Any:
    primals = [carrier.primal(a) for a in args]
    for i, x in enumerate(primals):
        if x is None:
            raise MissingRule(
                f"{primitive.name!r}{describe(current_source())} has an effect on operand {i}, of "
                f"which {type(carrier).__name__} has no untransformed value. Define "
                f"{type(carrier).__name__}.primal, or add a rule for the primitive."
            )
    return primitive.bind(*primals, **params)


def lift_regions(
    carrier: Carrier[V, Any], primitive: Primitive, args: Sequence[V], params: dict[str, Any]
) -> list[V]:
    """Apply a primitive that holds sub-programs to lifted operands."""
    assert primitive.regions is not None
    interface: RegionInterface = primitive.regions(params)
    control = interface.control
    if control is not None and carrier.known(args[control]) is None:
        return _all_regions(carrier, interface, args, args[control])
    ins = [carrier.structure(a, interface.depth(i)) for i, a in enumerate(args)]
    return _Lifting(carrier, interface, ins).run(primitive, args)


class LiftedRegions(NamedTuple):
    """The lifted form of a primitive with regions: parameters, structures at the fixed point."""

    params: dict[str, Any]
    operands: tuple[Any, ...]
    results: tuple[Any, ...]


def lift_structures(
    carrier: Carrier[Any, Any], interface: RegionInterface, structures: Sequence[Any]
) -> LiftedRegions:
    """The lifted parameters for operands of given structures, which loops may promote.

    For primitives that hold the sub-programs of another one (passes over a loop, say) and have
    operands or results of their own.
    """
    return _Lifting(carrier, interface, structures).described()


def _all_regions(
    carrier: Carrier[V, Any], interface: RegionInterface, args: Sequence[V], index: V
) -> list[V]:
    """A lifted index selects no single region: run all of them and select among their results."""
    result: list[dict[int, V]] = []
    for n, region in enumerate(interface.regions):
        _refuse_effects(region, "an index or predicate", "all of its branches run")
        program, ins = region.program, [args[i] for i in region.operands]
        if _is_guardable(region):
            cases = [carrier.pure(np.bool_(k == n)) for k in range(len(interface.regions))]
            program, ins = _where(program), [carrier.select(index, cases), *ins]
        outs = lift_call(carrier, carrier.branch(program, n), [index, *ins])
        result.append(dict(zip(region.results, outs)))
    results = range(len(interface.results))
    return [carrier.select(index, [outs[r] for outs in result]) for r in results]


def _is_guardable(region: Region) -> bool:
    return any(e.guardable for e in region.program.effects)


def _where(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program of a predicate and the inputs of ``program``, whose guardable effects happen where
    the predicate holds; remembered with ``program``.

    The predicate may be lifted: it selects the elements for which they happen.
    """

    def f(predicate: Any, *args: Any) -> list[Any]:
        return _Guarding(program, predicate).run(program, args)

    types = [typeof(np.bool_(True)), *program.in_avals]
    return program.memo("guarded", lambda: stage_closed(f, types, program.jaxpr.name))


class _Guarding(Interpreter):
    """Gives effect-only operations a predicate; functions keep custom rules."""

    keeps_results = True

    def __init__(self, program: ClosedJaxpr, predicate: Any) -> None:
        super().__init__()
        self.predicate = predicate
        used = [e.primitive for p in walk_programs(program) for e in open_program(p).eqns]
        self.consumed = frozenset([p for p in used if p.traits.guard is not None])

    def visit(self, eqn: Eqn, args: list[Any]) -> Any:
        guard = eqn.primitive.traits.guard
        return NotImplemented if guard is None else guard(self.predicate, args, eqn.params)


class _Misplaced(TypeError, NotImplementedError):  # the latter is what JAX raises here
    """An effect would happen for elements or iterations where it should not."""


def _refuse_effects(region: Region, what: str, why: str, guards: bool = True) -> None:
    """Refuse effects that would happen where they should not: all but reads, guarded effects, and
    those that may happen ``anywhere``."""
    effects, name = region.program.effects, region.program.jaxpr.name or "a sub-program"
    result = write_effects(effects)
    if result:
        aval = region.program.in_avals[result[0].input_index]
        raise TypeError(
            f"{name} writes to {aval.str_short()} under {what} that is itself mapped or uncertain"
            f"{describe(current_source())}: {why}, so that the write would happen where it should "
            "not. Return the value and write it outside, or map over the reference, too."
        )
    effects = frozenset([e for e in effects if not (e.anywhere or (guards and e.guardable))])
    if must_be_kept(effects):
        shown = sorted(map(repr, effects))[0]
        raise _Misplaced(
            f"{name} has an effect, {shown}, under {what} that is itself mapped or uncertain"
            f"{describe(current_source())}: {why}, so that the effect would happen where it should "
            "not. Return the value and have the effect outside, or do not map the predicate."
        )


class _Lifting(Generic[V]):
    """One application: ``ins`` and ``outs`` are the structures of operands and results."""

    def __init__(
        self, carrier: Carrier[V, Any], interface: RegionInterface, ins: Sequence[Any]
    ) -> None:
        self.carrier = carrier
        self.interface = interface
        self.ins = list(ins)
        self.outs: dict[int, Any] = {}
        self.predicate: Any = None  # structure of a loop's predicate where it is lifted

    def run(self, primitive: Primitive, args: Sequence[V]) -> list[V]:
        self._rise()
        carrier, lift_loop = self.carrier, self.carrier.lift_loop
        if self.predicate is not None and lift_loop is not None:
            return lift_loop(primitive, self.interface, args, self.ins, self.predicate)
        flat: list[Any] = []
        widths: list[int] = []
        for i, (a, s) in enumerate(zip(args, self.ins)):
            if i == self.interface.control:
                arrays: tuple[Any, ...] = (carrier.known(a),)
            else:
                arrays = carrier.arrays(a, s, self.interface.depth(i))
            flat.extend(arrays)
            widths.append(len(arrays))
        return self._results(bind_rewritten(primitive, flat, self._params(widths)))

    def described(self) -> LiftedRegions:
        """Parameters and structures, for operands of given structures."""
        self._rise()
        assert self.predicate is None or self.carrier.lift_loop is None
        types = self._in_types()
        widths = [len(self.carrier.types(types[i], s)) for i, s in enumerate(self.ins)]
        outs = tuple(self.outs[i] for i in sorted(self.outs))
        return LiftedRegions(self._params(widths), tuple(self.ins), outs)

    def _params(self, widths: Sequence[int]) -> dict[str, Any]:
        programs = [self._program(r) for r in self.interface.regions]
        kinds = enumerate(zip(self.interface.operands, widths))
        operands = [Operand(kind, i) for i, (kind, n) in kinds for _ in range(n)]
        return self.interface.rebuild(programs, operands)

    def _in_types(self) -> dict[int, AbstractValue]:
        pairs = [zip(r.operands, r.program.in_avals) for r in self.interface.regions]
        return {i: a for result in pairs for i, a in result}

    def _results(self, results: Sequence[Any]) -> list[V]:
        out: list[V] = []
        at = 0
        for i in sorted(self.outs):
            n, depth = self._width(i), self.interface.result_depth(i)
            out.append(self.carrier.value(results[at : at + n], self.outs[i], depth))
            at += n
        return out

    def _width(self, result: int) -> int:
        region = next(r for r in self.interface.regions if result in r.results)
        aval = region.program.out_avals[region.results.index(result)]
        return len(self.carrier.types(aval, self.outs[result]))

    def _rise(self) -> None:
        self._fixed_point()
        if self.predicate is not None:
            for region in self.interface.regions:
                guards = self.carrier.lift_loop is None and CONTROL not in region.results
                why = "it also runs after some elements are done"
                _refuse_effects(region, "a predicate", why, guards)

    def _fixed_point(self) -> None:
        """Raise the loop's structures until one more pass through the body adds nothing."""
        while True:
            self.outs, self.predicate = {}, None
            for region in self.interface.regions:
                self._join_outputs(region)
            changed = False
            for result, operand in self.interface.loop:
                joined = self.carrier.join_structures(self.ins[operand], self.outs[result])
                if self.predicate is not None and self.carrier.lift_loop is None:
                    # The predicate selects between old and new.
                    joined = self.carrier.join_structures(joined, self.predicate)
                changed = changed or joined != self.ins[operand]
                self.ins[operand] = self.outs[result] = joined
            if not changed:
                return

    def _join_outputs(self, region: Region) -> None:
        structures = lift_program(self.carrier, region.program, self._region_ins(region))[1]
        for result, structure in zip(region.results, structures):
            if result == CONTROL:
                pure = self.carrier.structure(self.carrier.pure(False), 0)
                self.predicate = None if structure == pure else structure
            elif result in self.outs:
                self.outs[result] = self.carrier.join_structures(self.outs[result], structure)
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
        """The part of a loop whose predicate is lifted; remembered with the program."""
        program, carrier = region.program, self.carrier
        name = program.jaxpr.name
        condition = self._condition().program
        positions = region.operands, region.results, self.interface.loop
        return program.memo(
            ("guarded", carrier_key(carrier), condition, positions, ins, wanted),
            lambda: lift_function(carrier, f, program.in_avals, ins, wanted, name)[0],
        )

    def _condition(self) -> Region:
        return next(r for r in self.interface.regions if CONTROL in r.results)

    def _may_go_on(self, condition: Region) -> Callable[..., Sequence[V]]:
        """The loop goes on while its lifted predicate may hold for some element."""
        carrier, f = self.carrier, jaxpr_as_fun(condition.program)
        return lambda *a: [carrier.pure(carrier.may(lift_call(carrier, f, a)[0]))]

    def _guarded(self, body: Region) -> Callable[..., Sequence[V]]:
        """The lifted predicate selects, element by element, between the old and the new carry."""
        carrier, guards = self.carrier, _is_guardable(body)
        program = _where(body.program) if guards else body.program
        step = carrier.branch(program, 1)
        test = jaxpr_as_fun(self._condition().program)
        operand_of = dict(self.interface.loop)

        def guarded(*values: V) -> list[V]:
            predicate = lift_call(carrier, test, values)[0]
            ins = [predicate, *values] if guards else values
            new = lift_call(carrier, step, [predicate, *ins])
            old = [values[body.operands.index(operand_of[r])] for r in body.results]
            return [carrier.select(predicate, pair) for pair in zip(old, new)]

        return guarded
