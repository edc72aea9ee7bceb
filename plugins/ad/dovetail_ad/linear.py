"""Linear programs, recorded while values are computed, so that linearization takes one pass.

``LinearTrace`` is the parent of a ``JvpTrace``. Operations on primals pass through to its own
parent and are computed (or staged) there; operations on tangents, which are linear in them, are
recorded. Known values in the record are the residuals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dovetail_base.frozen import frozen
from dovetail_base.options import enable_checks
from dovetail_base.source import get_override, get_scope, relative, set_override
from dovetail_core import (
    EVAL,
    AbstractValue,
    ClosedJaxpr,
    Eqn,
    Jaxpr,
    Literal,
    Primitive,
    Trace,
    Tracer,
    Var,
    algebra,
    current_source,
    evaluation,
    get_trace,
    mutable_values,
    needs_x64,
    rule_checks,
    run_under,
    set_trace,
    typeof,
)
from dovetail_xla.config import enable_x64_state

from .tables import partial_eval_rules


class LinearInput(Tracer["LinearTrace"]):
    """A linear unknown: an input of the linear program or a result in it."""

    __slots__ = ("index",)

    def __init__(self, trace: LinearTrace, aval: AbstractValue, index: int) -> None:
        self._trace = trace
        self.aval = aval
        self.index = index


def is_linear(x: Any) -> bool:
    """True if an argument of a transposition rule is a linear unknown.

    Unknowns of an enclosing linearization, which is still recording, are known values here.
    """
    return x.__class__ is LinearInput and x._trace.transposed


class LinearEqn(NamedTuple):
    """One recorded operation; ``args`` mix unknowns and known values."""

    primitive: Primitive
    args: Sequence[Any]
    params: dict[str, Any]
    outs: list[LinearInput]
    source: Any


_new = tuple.__new__  # quicker than the constructor; called for each recorded operation


class LinearTrace(Trace):
    """Records what depends on linear unknowns; everything else goes to the parent."""

    __slots__ = (
        "eqns", "count", "transposed", "pulls_zeros", "scope", "wide", "stand_ins", "has_local"
    )  # fmt: skip
    parent: Trace
    what = "linearization (linearize, vjp or grad)"
    function = "grad"
    is_reverse = True

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent)
        self.eqns: list[LinearEqn] = []
        self.count = 0
        self.transposed = False
        """True once the record is being transposed."""
        self.pulls_zeros = False
        """True if a recorded operation is also transposed where its cotangents are zero."""
        self.scope = get_scope()
        """The scope in which the trace was made."""
        self.wide = enable_x64_state.value
        """True if 64-bit types were enabled when the trace was made."""
        self.stand_ins: mutable_values.StandIns = {}
        self.has_local = False
        """True if mutable values were made under this trace."""
        partial_eval_rules.fill()

    def unknown(self, aval: AbstractValue) -> LinearInput:
        """A new unknown."""
        result = LinearInput(self, aval, self.count)
        self.count += 1
        return result

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.stateful and mutable_values.uses_local(self, primitive, args):
            self.has_local = True
            return mutable_values.apply_local(self, primitive, args, params)
        for x in args:
            if x.__class__ is LinearInput and x._trace is self:
                break
        else:
            return self.parent.process(primitive, args, params)
        rule = partial_eval_rules.rules.get(primitive)
        if rule is None:
            if primitive.rules is not None:
                rule = primitive.rules.get("ad.partial_eval")
            elif primitive.regions is not None:
                rule = partial_eval_rules.miss(primitive)
            elif partial_eval_rules.is_behind:
                partial_eval_rules.fill()
                rule = partial_eval_rules.entered(primitive)
        if rule is None:
            return self.record(primitive, args, params)
        outer = get_trace()
        try:
            set_trace(self.parent)
            result = rule(self, args, params)
        except Exception as e:
            partial_eval_rules.blame(primitive, args, params, e)
            raise
        finally:
            set_trace(outer)
        if not partial_eval_rules.is_derived(primitive):
            rule_checks.check_results(partial_eval_rules, primitive, args, params, result)
        return result

    def stand_in_for(self, local: Any) -> Any:
        """See :meth:`dovetail_core.Trace.stand_in_for`; NotImplemented for unknown contents."""
        unknown = any(self.owns(c) for c in local.contents)
        return (
            NotImplemented
            if unknown
            else mutable_values.stand_in(self.stand_ins, local, list(local.contents))
        )

    def read_stand_in(self, local: Any) -> None:
        mutable_values.read_stand_in(self.stand_ins, local, self.parent)

    def _outer_value(self, x: Any) -> Any:
        """``x``; a local mutable value as one of the parent, which outlives this trace."""
        outer = (
            run_under(self.parent, self.stand_in_for, x)
            if mutable_values.is_local(self, x)
            else NotImplemented
        )
        return x if outer is NotImplemented else outer

    def record(self, primitive: Primitive, args: Sequence[Any], params: dict[str, Any]) -> Any:
        """Record an operation; returns its results as unknowns."""
        args = [frozen(a) if isinstance(a, np.ndarray) else a for a in args]
        if self.has_local:
            args = [self._outer_value(a) for a in args]
        if enable_x64_state.value is not self.wide:
            args = [
                evaluation.array_of_number(a, not self.wide) for a in args
            ]  # in the current mode
        avals = primitive.infer(tuple([typeof(a) for a in args]), params).avals
        if primitive.traits.pulls_zeros:
            self.pulls_zeros = True
        outs = [self.unknown(a) for a in avals]
        self.eqns.append(_new(LinearEqn, (primitive, args, params, outs, current_source())))
        return outs if primitive.multiple_results else outs[0]

    def take(self) -> list[LinearEqn]:
        """Return the record and clear it.

        The record refers to the trace through its unknowns. If the trace kept it, both and the
        residuals would live until Python's garbage collector runs.
        """
        result, self.eqns = self.eqns, []
        return result

    def owns(self, x: Any) -> bool:
        """True if ``x`` is an unknown of this trace."""
        return x.__class__ is LinearInput and x._trace is self


def run_linear(trace: LinearTrace, program: ClosedJaxpr, *args: Any) -> list[Any]:
    """Run a program under ``trace``, which is current.

    Like ``eval_jaxpr``, but recorded equations keep their types, which are not inferred again.
    """
    jaxpr, consts = evaluation.with_typed_constants(program.jaxpr, program.consts)
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    inherited = get_override()
    partial_eval_rules.fill()
    special = partial_eval_rules.rules
    try:
        for eqn in jaxpr.eqns:
            primitive, source = eqn.primitive, inherited or eqn.source
            vals = [x.val if x.__class__ is Literal else env[x] for x in eqn.invars]  # type: ignore
            plain = not primitive.stateful and primitive.rules is None and primitive not in special
            if plain and any([trace.owns(x) for x in vals]):  # noqa: C419
                outs = [trace.unknown(v.aval) for v in eqn.outvars]
                trace.eqns.append(_new(LinearEqn, (primitive, vals, eqn.params, outs, source)))
            else:
                set_override(source)
                out = trace.process(primitive, tuple(vals), eqn.params)
                outs = out if primitive.multiple_results else [out]
            env.update(zip(eqn.outvars, outs))
    finally:
        set_override(inherited)
    return [x.val if x.__class__ is Literal else env[x] for x in jaxpr.outvars]  # type: ignore


class LinearProgram(NamedTuple):
    """A linear program as IR: inputs are ``residuals`` (in order), then the unknowns."""

    program: ClosedJaxpr
    residuals: list[Any]


def to_program(
    trace: LinearTrace, inputs: Sequence[LinearInput], outputs: Sequence[LinearInput]
) -> LinearProgram:
    """The recorded operations that ``outputs`` need, as a program.

    Known scalars become literals, other known values residuals.
    """
    needed = _needed(trace, outputs)
    variables: dict[int, Var] = {t.index: Var(t.aval) for t in inputs}
    residuals: dict[int, tuple[Var, Any]] = {}

    def atom(x: Any) -> Any:
        if trace.owns(x):
            return variables[x.index]
        if x.__class__ in (bool, int, float, complex) or isinstance(x, np.generic):
            return Literal(x, typeof(x))
        result = residuals.get(id(x))
        if result is None:
            aval = typeof(x)
            value = x
            if isinstance(x, np.ndarray) and needs_x64(x.dtype):
                # Its type depends on the current mode of 64-bit types.
                value = run_under(EVAL, algebra().array, x, aval)
            result = residuals[id(x)] = Var(aval), value
        return result[0]

    eqns: list[Eqn] = []
    high = False
    for primitive, args, params, outs, source in needed:
        invars = [atom(x) for x in args]
        outvars = [Var(t.aval) for t in outs]
        variables.update((t.index, v) for t, v in zip(outs, outvars))
        result = primitive.infer(tuple([v.aval for v in invars]), params)
        high = high or result.is_high
        source = relative(source, trace.scope)
        eqns.append(Eqn(primitive, invars, outvars, params, result.effects, source))
    outvars_ = [atom(x) for x in outputs]
    invars_ = [v for v, _ in residuals.values()] + [variables[t.index] for t in inputs]
    high = high or any(v.aval.is_high for v in invars_)
    jaxpr = Jaxpr([], invars_, outvars_, eqns, is_high=high)
    program = checked(ClosedJaxpr(jaxpr), "linearization")
    return LinearProgram(program, [x for _, x in residuals.values()])


def checked(program: ClosedJaxpr, after: str) -> ClosedJaxpr:
    """``program``, checked where the option ``enable_checks`` is on; ``after`` says what made it.

    Raises:
        IRError: the program breaks a rule of the IR.
    """
    if enable_checks.value:
        from dovetail_core import check_jaxpr

        check_jaxpr(program, after)
    return program


def _needed(trace: LinearTrace, outputs: Sequence[Any]) -> list[LinearEqn]:
    live = {x.index for x in outputs if trace.owns(x)}
    kept: list[LinearEqn] = []
    for eqn in reversed(trace.take()):
        for t in eqn.outs:
            if t.index in live:
                kept.append(eqn)
                live.update([x.index for x in eqn.args if trace.owns(x)])
                break
    return kept[::-1]
