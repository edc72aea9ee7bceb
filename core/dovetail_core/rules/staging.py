"""The staging trace: records operations as a program instead of computing them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from gc import get_threshold
from typing import Any, NamedTuple, NoReturn

import numpy as np

from dovetail_base.errors import UnexpectedTracerError, refuse_mutable_result
from dovetail_base.frozen import frozen
from dovetail_base.options import enable_checks
from dovetail_base.scopes import end_tracing, start_tracing
from dovetail_base.source import (
    Source,
    current_source,
    describe,
    get_scope,
    set_scope,
    without_names,
)
from dovetail_xla.config import tracing_state

from ..dispatch.axis_names import outer_varying_axes
from ..dispatch.leaks import leak_checker
from ..dispatch.primitive import Primitive, Trace, get_trace, set_trace
from ..dispatch.tracer import Tracer, check_alive
from ..ir.programs import Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, Var
from ..ir.regions import RegionInterface
from ..ir.verification import check_jaxpr
from ..types.avals import AbstractValue
from ..types.dtypes import float0
from ..types.effects import Effects, RetypeEffect
from ..types.typeof import typeof

__all__ = (
    "StagedTracer",
    "StagingTrace",
    "check_in_scope",
    "consts_to_inputs",
    "current_type",
    "definition_of",
    "stage",
    "stage_closed",
)


class StagedTracer(Tracer["StagingTrace"]):
    """A variable of the program that is being recorded."""

    __slots__ = ("variable",)  # not `var`, which is a method of arrays

    def __init__(self, trace: StagingTrace, var: Var) -> None:
        self._trace = trace
        self.aval = var.aval
        self.variable = var

    def origin(self) -> Source | None:
        eqn = self._trace.definition(self.variable)
        return None if eqn is None else eqn.source


_literal_types = {bool, int, float, complex}


class StagingTrace(Trace):
    """Records equations. Values from outside become constants (arrays) or literals (scalars)."""

    __slots__ = ("eqns", "constants", "_const_of", "is_high", "name", "retyped", "_definitions",
                 "_superseded")  # fmt: skip

    def __init__(self, parent: Trace, name: str = "") -> None:
        super().__init__(parent)
        self.eqns: list[Eqn] = []
        self.constants: list[tuple[Var, Any]] = []
        self._const_of: dict[int, Var] = {}
        self.is_high = False
        self.name = name
        self.retyped: dict[Var, AbstractValue] = {}  # types of mutable values that have changed
        self._definitions: tuple[int, dict[Var, Eqn]] = 0, {}
        self._superseded: set[Var] = set()

    @property
    def what(self) -> str:  # type: ignore[override]
        return f"the trace of {self.name!r}" if self.name else "a trace"

    def new_input(self, aval: AbstractValue) -> StagedTracer:
        """A fresh input of the program."""
        self.is_high = self.is_high or aval.is_high
        return StagedTracer(self, Var(aval))

    def definition(self, var: Var) -> Eqn | None:
        """The equation that defines a variable, if one does; each equation is indexed once."""
        known, result = self._definitions
        for eqn in self.eqns[known:]:
            result.update(dict.fromkeys(eqn.outvars, eqn))
        self._definitions = len(self.eqns), result
        return result.get(var)

    def place(self, x: StagedTracer, source: Source) -> None:
        """Set the source location of the equation that defines ``x``."""
        known = self.definition(x.variable)
        for i in reversed(range(len(self.eqns))):
            eqn = self.eqns[i]
            if eqn is known:  # which another program may have, too
                self.eqns[i] = result = eqn.replace(source=source)
                self._definitions[1].update(dict.fromkeys(result.outvars, result))
                return

    def supersede(self, x: StagedTracer) -> None:
        """Drop the equation that defines ``x`` if nothing uses it in the end, because its uses have
        been replaced. It must have one result and no effects."""
        self._superseded.add(x.variable)

    def _needed(self, outvars: Sequence[Atom]) -> list[Eqn]:
        """The equations without those that were superseded and are not used."""
        used, kept = {v for v in outvars if v.__class__ is Var}, list[Eqn]()
        for eqn in reversed(self.eqns):
            (result, *_) = eqn.outvars or (None,)
            if result not in self._superseded or result in used:
                used.update([v for v in eqn.invars if v.__class__ is Var])
                kept.append(eqn)
        return kept[::-1]

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        invars: list[Any] = [
            a.variable if a.__class__ is StagedTracer and a._trace is self else self.atom(a)
            for a in args
        ]
        out = primitive.infer(tuple([v.aval for v in invars]), params)
        avals, effects, is_high = out
        outvars = [Var(avals[0])] if len(avals) == 1 else [Var(a) for a in avals]
        self.eqns.append(Eqn(primitive, invars, outvars, params, effects, current_source()))
        if is_high:
            self.is_high = True
            if primitive.stateful and effects:
                self._note_types(primitive, args, invars, params, effects)
        if primitive.multiple_results:
            return [StagedTracer(self, v) for v in outvars]
        return StagedTracer(self, outvars[0])

    def _note_types(
        self, primitive: Primitive, args: Any, invars: list[Any], params: Any, effects: Effects
    ) -> None:
        """Record the types that mutable operands have from this equation on."""
        for e in effects:
            if e.__class__ is RetypeEffect:
                var = invars[e.input_index]  # type: ignore[attr-defined]
                if primitive.regions is not None:
                    interface: RegionInterface = primitive.regions(params)
                    if interface.is_loop or interface.is_choice:
                        _refuse_retyping(primitive, var.aval, e.aval)  # type: ignore[attr-defined]
                self.retyped[var] = e.aval  # type: ignore[attr-defined]
                tracer = args[e.input_index]  # type: ignore[attr-defined]
                if tracer.__class__ is StagedTracer and tracer._trace is self:
                    tracer.aval = e.aval  # type: ignore[attr-defined]

    def type_of(self, x: Any) -> AbstractValue | None:
        """The type that a mutable value has at this point of the program, if it occurs in it."""
        var = x.variable if x.__class__ is StagedTracer and x._trace is self else None
        var = var or self._const_of.get(id(x))
        return None if var is None else self.retyped.get(var, var.aval)

    def atom(self, x: Any) -> Atom:
        """The variable or literal that stands for ``x`` in this program."""
        if x.__class__ is StagedTracer and x._trace is self:
            return x.variable
        if x.__class__ in _literal_types or issubclass(x.__class__, np.generic):
            return Literal(x, typeof(x))
        if issubclass(x.__class__, np.ndarray):
            if not x.ndim and isinstance(value := x[()], np.generic) and x.dtype != float0:
                return Literal(value, typeof(x))
            x = frozen(x)
        known = self._const_of.get(id(x))
        if known is None:
            aval = typeof(x)
            if issubclass(x.__class__, Tracer):
                check_alive(x)
                if more := outer_varying_axes(x):
                    aval = aval.with_vma(aval.vma | more)
                if aval.is_mutable:
                    check_in_scope(x, self)
            if aval.has_mutable_type:
                aval = current_type(x, self.parent)
            known = self._const_of[id(x)] = Var(aval)
            self.is_high = self.is_high or known.aval.is_high
            self.constants.append((known, x))  # keeps x alive, so that its id stays its own
        return known

    def finish(
        self, inputs: Sequence[StagedTracer], outputs: Sequence[Any]
    ) -> tuple[Jaxpr, list[Any]]:
        """The recorded program, its constants as ``constvars``, and their values."""
        outvars = [self.atom(x) for x in outputs]
        for v in outvars:
            if v.aval.is_mutable:
                refuse_mutable_result(v.aval, self.name or "a traced function")
        self.ended = True
        jaxpr = Jaxpr(
            [v for v, _ in self.constants],
            [t.variable for t in inputs],
            outvars,
            self._needed(outvars) if self._superseded else self.eqns,
            is_high=self.is_high,
            mut_types=self._final_types(inputs) if self.retyped else None,
            name=self.name,
        )
        if enable_checks.value:
            check_jaxpr(jaxpr, "tracing")
        return jaxpr, [c for _, c in self.constants]

    def _final_types(self, inputs: Sequence[StagedTracer]) -> dict[int, AbstractValue]:
        variables = [*[v for v, _ in self.constants], *[t.variable for t in inputs]]
        final = {i: self.retyped.get(v, v.aval) for i, v in enumerate(variables)}
        return {i: t for i, t in final.items() if t != variables[i].aval}


def definition_of(x: Any) -> tuple[StagingTrace, Eqn] | None:
    """The current trace and the equation in its program that defines ``x``, if one does."""
    if x.__class__ is not StagedTracer or x._trace is not get_trace():
        return None
    eqn = x._trace.definition(x.variable)
    return None if eqn is None else (x._trace, eqn)


def check_in_scope(x: Any, trace: Trace | None) -> None:
    """Raise UnexpectedTracerError for a mutable tracer that is used outside of its trace, as by
    rules that a transformation applies: writes to it could not be recorded."""
    while trace is not None:
        if trace is x._trace:
            return
        trace = trace.parent
    raise UnexpectedTracerError(
        f"{x.aval.str_short()}{describe(x.origin())} belongs to {x._trace.what}, and is used"
        f"{describe(current_source())} outside of it."
    )


def current_type(x: Any, trace: Trace | None = None) -> AbstractValue:
    """The type that a mutable value has at present in ``trace`` (by default the current one)."""
    trace = trace or get_trace()
    while trace is not None:
        if isinstance(trace, StagingTrace):
            result = trace.type_of(x)
            if result is not None:
                return result
        trace = trace.parent
    return typeof(x)


def _refuse_retyping(primitive: Primitive, before: AbstractValue, after: AbstractValue) -> NoReturn:
    raise TypeError(
        f"{primitive.name!r}{describe(current_source())} changes {before.str_short()} to "
        f"{after.str_short()}: in loops and branches the types of what a mutable value holds must "
        "stay the same. Set it to values of those types before."
    )


def stage(
    f: Callable[..., Sequence[Any]], in_avals: Sequence[AbstractValue], name: str = ""
) -> tuple[Jaxpr, list[Any]]:
    """Record ``f``, which takes one value per type in ``in_avals`` and returns a sequence.

    Returns the program and the values of its constants (which may be tracers of an outer trace:
    pass them as operands of the equation that is being built, see :func:`consts_to_inputs`).
    """
    checker = leak_checker()
    before = None if checker is None else checker.begin()
    trace = StagingTrace(get_trace(), name)
    inputs = [trace.new_input(a) for a in in_avals]
    outer = _State(get_trace(), tracing_state.get_local(), get_threshold(), get_scope())
    is_over = False
    try:
        try:
            set_trace(trace)
            tracing_state.set_local(True)
            set_scope(without_names(outer.scope))
            start_tracing(outer.threshold)
            result = trace.finish(inputs, f(*inputs))
        finally:
            trace.ended = True
            outer.put_back()
            is_over = True
    finally:
        if not is_over:  # an interrupt came while that was done (see base.scopes)
            trace.ended = True
            outer.put_back()
    if checker is not None:
        inputs.clear()  # inputs that are alive are no leaks
        del trace
        checker.end(before)
    return result


class _State(NamedTuple):
    """The state of the process that staging changes and restores."""

    trace: Trace
    tracing: Any
    threshold: tuple[int, int, int]
    scope: str

    def put_back(self) -> None:
        set_trace(self.trace)
        set_scope(self.scope)
        tracing_state.set_local(self.tracing)
        end_tracing(self.threshold)


def stage_closed(
    f: Callable[..., Sequence[Any]], in_avals: Sequence[AbstractValue], name: str = ""
) -> ClosedJaxpr:
    """Record ``f``, which may close over concrete values and mutable ones alone; the latter become
    operands of applications of the program (see ``ir.closing``).

    Raises:
        UnexpectedTracerError: ``f`` closes over another tracer.
    """
    jaxpr, consts = stage(f, in_avals, name)
    for c in consts:
        if isinstance(c, Tracer) and not c.aval.is_mutable:
            raise UnexpectedTracerError(
                f"{name or 'a rule'} closes over a traced value of type {c.aval.str_short()}"
                f"{describe(c.origin())}. Pass it as an argument instead."
            )
    return ClosedJaxpr(jaxpr, consts)


def consts_to_inputs(jaxpr: Jaxpr) -> ClosedJaxpr:
    """The program with its constants as leading inputs, so that callers pass them as operands."""
    if not jaxpr.constvars:
        return ClosedJaxpr(jaxpr)
    moved = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
    return ClosedJaxpr(moved)
