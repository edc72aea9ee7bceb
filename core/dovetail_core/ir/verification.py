"""The checker of programs for the rules of the IR (option ``enable_checks``: of every program)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from dovetail_base.errors import IRError
from dovetail_base.source import describe

from ..types.avals import AbstractValue, ShapedArray, without_leading
from .programs import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var, open_program, walk_programs
from .regions import CONTROL, Region, RegionInterface


def check_jaxpr(program: Jaxpr | ClosedJaxpr, after: str = "") -> None:
    """Check a program and its sub-programs.

    Every variable is defined once and before it is used; results have the types, and equations the
    effects, that the type rules give; the effects and ``is_high`` of the program are those of its
    equations; sub-programs fit the operands and results that their primitive's regions connect.

    Args:
        after: the name of the pass or function that made the program, for the message.

    Raises:
        IRError: a rule is broken; names the program, the equation and the user's line behind it.
    """
    for ir in walk_programs(program):
        _Checker(open_program(ir), after).run()


class _Checker:
    """The check of one program, without the equations of its sub-programs."""

    def __init__(self, jaxpr: Jaxpr, after: str) -> None:
        self.jaxpr = jaxpr
        self.after = after
        self.defined: set[Var] = set()
        self.location: tuple[int, Eqn] | None = None

    def run(self) -> None:
        jaxpr = self.jaxpr
        self.define(jaxpr.constvars, "a constant")
        self.define(jaxpr.invars, "an input")
        high = any(v.aval.is_high for v in self.defined)
        for i, eqn in enumerate(jaxpr.eqns):
            self.location = i, eqn
            high = self.equation(eqn) or high
        self.location = None
        self.use(jaxpr.outvars, "output")
        if high and not jaxpr.is_high:
            self.fail("something high occurs in it, but is_high is not set")
        collected = jaxpr.replace(effects=None).effects
        if jaxpr.effects != collected:
            self.fail(f"its effects are {_set(jaxpr.effects)}, its equations' {_set(collected)}")
        beyond = [i for i in jaxpr.mut_types if i >= len(jaxpr.constvars) + len(jaxpr.invars)]
        if beyond:
            self.fail(f"mut_types speaks of input {beyond[0]}, which does not exist")

    def define(self, variables: Iterable[Var], what: str) -> None:
        for v in variables:
            if v in self.defined:
                self.fail(f"{what} of type {v.aval.str_short()} is defined a second time")
            self.defined.add(v)

    def use(self, atoms: Sequence[Atom], what: str) -> None:
        for i, x in enumerate(atoms):
            if isinstance(x, Literal):
                self.literal(x, f"{what} {i}")
            elif x not in self.defined:
                self.fail(f"{what} {i} (of type {x.aval.str_short()}) is not defined here")

    def literal(self, x: Literal, what: str) -> None:
        if x.aval.numpy_dtype() is not None and getattr(x.aval, "shape", ()):
            self.fail(f"{what} is a literal of type {x.aval.str_short()}; literals are scalars")

    def equation(self, eqn: Eqn) -> bool:
        """Check one equation; returns whether it is high."""
        self.use(eqn.invars, "operand")
        try:
            result = eqn.primitive.infer(tuple([x.aval for x in eqn.invars]), eqn.params)
        except Exception as e:  # a type rule may refuse in any way
            self.fail(f"its type rule refuses it: {type(e).__name__}: {e}", e)
        avals = [v.aval for v in eqn.outvars]
        if avals != list(result.avals):
            text = _types(result.avals)
            self.fail(f"its results are of types {_types(avals)}, its rule says {text}")
        if eqn.effects != result.effects:
            self.fail(f"its effects are {_set(eqn.effects)}, its rule says {_set(result.effects)}")
        self.define(eqn.outvars, "a result")
        if eqn.primitive.regions is not None:
            self.regions(eqn, eqn.primitive.regions(eqn.params))
        return result.is_high

    def regions(self, eqn: Eqn, interface: RegionInterface) -> None:
        for what, kinds, atoms in (
            ("operands", interface.operands, eqn.invars),
            ("results", interface.results, eqn.outvars),
        ):
            if len(kinds) != len(atoms):
                self.fail(f"it has {len(atoms)} {what}, its interface names {len(kinds)}")
        for n, region in enumerate(interface.regions):
            program = region.program
            for what, named, has in (
                ("takes {} operands", len(region.operands), len(program.in_avals)),
                ("gives {} results", len(region.results), len(program.out_avals)),
            ):
                if named != has:
                    self.fail(f"sub-program {n} {what.format(has)}, its region names {named}")
            self.connections(eqn, interface, n, region)

    def connections(self, eqn: Eqn, interface: RegionInterface, n: int, region: Region) -> None:
        ins = zip(region.operands, region.program.in_avals)
        outs = zip(region.results, region.program.out_avals)
        operands = [("operand", i, eqn.invars, interface.operands, a) for i, a in ins]
        results = [("result", i, eqn.outvars, interface.results, a) for i, a in outs]
        for what, i, atoms, kinds, inner in [*operands, *results]:
            if i == CONTROL and what == "result":
                continue
            if not 0 <= i < len(atoms):
                self.fail(f"the region of sub-program {n} names {what} {i} of {len(atoms)}")
            outer, leading = atoms[i].aval, kinds[i].leading
            if not _fits(outer, inner, leading):
                slices = "slices of " if leading else ""
                self.fail(
                    f"{what} {i} is of type {outer.str_short()}, sub-program {n} has "
                    f"{inner.str_short()} for {slices}it"
                )

    def fail(self, message: str, cause: BaseException | None = None) -> NoReturn:
        after = f" after {self.after}" if self.after else ""
        name = f" {self.jaxpr.name!r}" if self.jaxpr.name else ""
        where = f"the program{name}"
        if self.location is not None:
            i, eqn = self.location
            text = self.jaxpr.text_of(eqn)
            where = f"equation {i} of {where}{describe(eqn.source)}, {text!r}"
        raise IRError(f"{where} is not valid{after}: {message}") from cause


def _fits(outer: AbstractValue, inner: AbstractValue, leading: bool) -> bool:
    """Return whether the types of a value and of a sub-program's input or output for it agree, but
    for weak types."""
    if not (isinstance(outer, ShapedArray) and isinstance(inner, ShapedArray)):
        if inner.has_mutable_type and outer.has_mutable_type:
            return True  # the variable's type is the first that the value had
        return inner == (without_leading(outer) if leading else outer)
    if len(outer.shape) != len(inner.shape) + leading or outer.dtype != inner.dtype:
        return False
    return outer.shape[int(leading) :] == inner.shape


def _types(avals: Sequence[AbstractValue]) -> str:
    return f"({', '.join(a.str_short() for a in avals)})"


def _set(effects: Iterable[Any]) -> str:
    return f"{{{', '.join(sorted(map(str, effects)))}}}"
