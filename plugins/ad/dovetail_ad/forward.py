"""Forward mode: pairs of primal and tangent carried through a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

from numpy import ndarray

from dovetail_base.frozen import frozen
from dovetail_core import (
    AbstractValue,
    Carrier,
    LiftTrace,
    LiftTracer,
    Primitive,
    Trace,
    derive,
    evaluation,
    get_trace,
    mutable_values,
    rule_checks,
    run_under,
    set_trace,
    type_shardings,
    typeof,
    zeros_like_aval,
)
from dovetail_xla.config import enable_x64_state

from .tables import JvpRule, jvp_rules
from .tangents import same_type

Dual = tuple[Any, Any]
"""A primal and its tangent; the tangent is None where it is symbolically zero."""


class DualCarrier(Carrier[Dual, bool]):
    """Lifted values are pairs; their structure is whether the tangent is nonzero."""

    key = "jvp"

    def trace(self, parent: Trace) -> JvpTrace:
        return JvpTrace(parent)

    def pure(self, x: Any) -> Dual:
        return x, None

    def aval(self, value: Dual) -> AbstractValue:
        return typeof(value[0])

    def structure(self, value: Dual, depth: int) -> bool:
        return value[1] is not None

    def join_structures(self, a: bool, b: bool) -> bool:
        return a or b

    def types(self, aval: AbstractValue, structure: bool) -> tuple[AbstractValue, ...]:
        return (aval, aval.tangent_type()) if structure else (aval,)

    def arrays(self, value: Dual, structure: bool, depth: int) -> tuple[Any, ...]:
        primal, tangent = value
        if not structure:
            return (primal,)
        return primal, zeros_like_aval(
            typeof(primal).tangent_type()
        ) if tangent is None else tangent

    def value(self, arrays: Sequence[Any], structure: bool, depth: int) -> Dual:
        return (arrays[0], arrays[1]) if structure else (arrays[0], None)

    def known(self, value: Dual) -> Any:
        # Predicates and indices have no tangents; choosing by their primal is exact.
        primal, tangent = value
        return primal if tangent is None else None

    def primal(self, value: Dual) -> Any:
        return value[0]

    def may(self, predicate: Dual) -> Any:
        raise AssertionError("a predicate has no tangent")

    def select(self, index: Dual, cases: Sequence[Dual]) -> Dual:
        raise AssertionError("an index has no tangent")


CARRIER = DualCarrier()


class JvpTracer(LiftTracer):
    """A value with a tangent."""

    __slots__ = ()

    @property
    def primal(self) -> Any:
        """The value without its tangent."""
        return self.value[0]

    @property
    def tangent(self) -> Any:
        """Its tangent."""
        return self.value[1]


class JvpTrace(LiftTrace[Dual]):
    """Runs operations on duals by the rules of ``ad.jvp``."""

    __slots__ = ("borrows", "stand_ins", "wide")
    tracer = JvpTracer
    what = "differentiation (jvp, linearize or grad)"
    function = "grad"

    def __init__(self, parent: Trace) -> None:
        super().__init__(parent, CARRIER, jvp_rules)
        self.borrows: list[mutable_values.Borrow] = []
        self.wide = enable_x64_state.value
        """True if 64-bit types were enabled when the trace was made; numbers have types by this."""
        self.stand_ins: mutable_values.StandIns = {}

    def stand_in_for(self, local: Any) -> Any:
        return stand_in_for(self, local)

    def read_stand_in(self, local: Any) -> None:
        mutable_values.read_stand_in(self.stand_ins, local, primal_trace(self))

    def plain(self, value: Dual) -> Any:
        return value[0]  # Python control flow may look at primals

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        if primitive.stateful and self._is_local(primitive, args):
            return mutable_values.apply_local(self, primitive, args, params)
        primals: list[Any] = []
        tangents: list[Any] = []
        lifted, is_typed = False, enable_x64_state.value is self.wide
        for x in args:
            if x.__class__ is JvpTracer and x._trace is self:
                primal, tangent = x.value if is_typed else self._as_read(x.value)
                primals.append(primal)
                tangents.append(tangent)
                lifted = True
            else:  # frozen here once, for all operations on primals and on tangents
                primals.append(frozen(x) if x.__class__ is ndarray else x)
                tangents.append(None)
        if not lifted:
            return self.parent.process(primitive, args, params)
        rule = jvp_rules.rules.get(primitive) or jvp_rules.miss(primitive)
        outer = get_trace()
        try:
            set_trace(self.parent)
            result = rule(primals, tangents, **params)
        except Exception as e:
            again = partial(_with_inferred_shardings, rule, primitive, primals, tangents, params)
            result = jvp_rules.after(e, primals, again, primitive, args, params)
        finally:
            set_trace(outer)
        try:
            out, tangent = result
        except (TypeError, ValueError):
            out, tangent = self._by_fallback(primitive, result, primals, tangents, params)
        if primitive.multiple_results:
            check_lists(primitive, primals, params, out, tangent)
            return [p if t is None else self.checked(primitive, p, t) for p, t in zip(out, tangent)]
        return out if tangent is None else self.checked(primitive, out, tangent)

    def _as_read(self, value: Dual) -> Dual:
        """A pair, read in the mode of 64-bit types in which the trace was made."""
        return evaluation.array_of_number(value[0], self.wide), evaluation.array_of_number(
            value[1], self.wide
        )

    def _by_fallback(
        self, primitive: Primitive, result: Any, primals: Any, tangents: Any, params: dict[str, Any]
    ) -> Any:
        """The pair of the derived rule if a rule returned NotImplemented; else raise TypeError."""
        if result is not NotImplemented:
            refuse_pair(primitive, result)
        rule = jvp_rules.fallback(primitive)
        return run_under(self.parent, rule, primals, tangents, **params)

    def _is_local(self, primitive: Primitive, args: tuple[Any, ...]) -> bool:
        """True if an operation reads or writes a mutable value of this trace."""
        if self.borrows:
            mutable_values.check_borrowed(self.borrows, args, "jvp")
        return mutable_values.uses_local(self, primitive, args)

    def checked(self, primitive: Primitive, primal: Any, tangent: Any) -> JvpTracer:
        """The tracer of a pair that a rule returned.

        Raises:
            TypeError: the tangent is not of the tangent type of the primal.
        """
        try:
            aval = typeof(primal)
            if typeof(tangent) is aval.tangent_type():
                return JvpTracer(self, aval, (primal, tangent))
        except TypeError:  # one of them is no value
            pass
        aval = check_tangent(primitive, primal, tangent)
        return JvpTracer(
            self, aval, (primal, type_shardings.like_type(tangent, aval, typeof(tangent)))
        )

    def dual(self, primal: Any, tangent: Any) -> Any:
        """The tracer of a pair, or the primal alone where the tangent is zero."""
        return primal if tangent is None else JvpTracer(self, typeof(primal), (primal, tangent))


def _with_inferred_shardings(
    rule: JvpRule, primitive: Primitive, primals: Any, tangents: Any, params: dict[str, Any]
) -> Any:
    """The result of a rule on values without shardings, with those of the operation's result types.

    Used when operations of the rule have ambiguous shardings and the operation itself has not.
    """
    avals: Any = primitive.infer(tuple([typeof(x) for x in primals]), params).avals
    result, changes = rule(
        type_shardings.without_shardings(primals),
        type_shardings.without_shardings(tangents),
        **params,
    )
    if not primitive.multiple_results:
        result, changes = [result], [changes]
    outs = [type_shardings.like_type(x, a, typeof(x)) for x, a in zip(result, avals)]
    changes = [
        None if t is None else type_shardings.like_type(t, a, typeof(t))
        for t, a in zip(changes, avals)
    ]
    return (outs, changes) if primitive.multiple_results else (outs[0], changes[0])


@jvp_rules.deriver
def derive_jvp(primitive: Primitive) -> JvpRule | None:
    """The rule that follows from a primitive's regions or decomposition."""
    lifted = derive(primitive)
    if lifted is None:
        return None

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        out = lifted(CARRIER, list(zip(primals, tangents)), params)
        if primitive.multiple_results:
            return [p for p, _ in out], [t for _, t in out]
        return out

    return rule


def jvp_values(
    f: Callable[..., Sequence[Any]], primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    """Values and tangents of ``f`` (flat arguments, a sequence of results); None is a zero."""
    trace = JvpTrace(get_trace())
    try:
        outs = run_under(trace, f, *[_input(trace, p, t) for p, t in zip(primals, tangents)])
        duals = [trace.lower(x) for x in outs]
        if trace.borrows:
            write_back(trace)
    finally:
        trace.ended = True
    return [p for p, _ in duals], [t for _, t in duals]


def _input(trace: JvpTrace, primal: Any, tangent: Any) -> Any:
    if tangent is not None and typeof(primal).is_mutable:
        return borrow(trace, primal, tangent)
    return trace.dual(primal, tangent)


def borrow(trace: Any, primal: Any, tangent: Any) -> Any:
    """A mutable primal with its tangent, as one local value under ``trace`` (a JvpTrace)."""
    aval = typeof(primal)
    held = zip(aval.read(primal), typeof(tangent).read(tangent))
    borrow = mutable_values.Borrow(
        trace, (primal, tangent), aval, [trace.dual(p, t) for p, t in held]
    )
    trace.borrows.append(borrow)
    return borrow.local


def stand_in_for(trace: Any, local: mutable_values.LocalValue) -> Any:
    """The outer mutable value that represents a local one of ``trace`` (a JvpTrace), made if there
    is none yet, with its current contents; NotImplemented if the local one holds tangents."""
    duals = [trace.lower(c) for c in local.contents]
    if any(t is not None for _, t in duals) or any(b.local is local for b in trace.borrows):
        return NotImplemented
    return run_under(
        primal_trace(trace), mutable_values.stand_in, trace.stand_ins, local, [p for p, _ in duals]
    )


def primal_trace(trace: Any) -> Any:
    """The nearest enclosing trace that computes or stages operations on primals."""
    result = trace.parent
    while result.is_reverse:
        result = result.parent
    return result


def write_back(trace: Any) -> None:
    """Write the contents of borrowed values that have changed back to primals and tangents."""
    for borrow in trace.borrows:
        if borrow.changed:
            primal, tangent = borrow.originals
            duals = [trace.lower(c) for c in borrow.local.contents]
            final: Any = borrow.local.aval
            final.write(primal, [p for p, _ in duals])
            dense = [
                zeros_like_aval(typeof(p).tangent_type()) if t is None else t for p, t in duals
            ]
            final.tangent_type().write(tangent, dense)


def refuse_pair(primitive: Primitive, result: Any) -> NoReturn:
    """Raise TypeError: a jvp rule did not return a pair."""
    wanted = "it must return a pair (result, tangent of the result)"
    rule_checks.raise_wrong_result(
        jvp_rules, primitive, rule_checks.describe_result(result), wanted
    )


def check_lists(
    primitive: Primitive, primals: Sequence[Any], params: dict[str, Any], outs: Any, tangents: Any
) -> None:
    """Raise TypeError unless a jvp rule returned all results, each with a tangent or None."""
    if primitive.regions is not None or primitive.abstract_eval is None:
        count = None  # the type rule would trace its regions or its decomposition
    else:
        count = len(primitive.infer(tuple([typeof(x) for x in primals]), params).avals)
    rule_checks.check_count(jvp_rules, primitive, outs, count, "result")
    rule_checks.check_count(jvp_rules, primitive, tangents, len(outs), "result")


def check_tangent(primitive: Primitive, primal: Any, tangent: Any) -> AbstractValue:
    """The type of a result.

    Types of arrays are interned, and traces compare addresses first. This is for types that differ
    but agree: those of high values, which are compared by value, and weakly typed numbers.

    Raises:
        TypeError: the tangent is not of its tangent type.
    """
    aval = rule_checks.type_of_result(jvp_rules, primitive, primal, "a result")
    got = rule_checks.type_of_result(jvp_rules, primitive, tangent, "a tangent")
    want = aval.tangent_type()
    if not same_type(got, want):
        rule_checks.raise_wrong_result(
            jvp_rules,
            primitive,
            f"a tangent of type {got.str_short()} for a result of type {aval.str_short()}",
            f"tangents of that are of type {want.str_short()}",
        )
    return aval
