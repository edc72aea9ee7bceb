"""Evaluation: the table ``eval``, and running a program by binding its equations one by one."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np

from dovetail_base.options import enable_x64
from dovetail_base.source import get_override, get_scope, set_override, within
from dovetail_xla.config import enable_x64_state

from ..dispatch.primitive import EVAL, Primitive, get_trace, run_under
from ..ir.programs import ClosedJaxpr, Jaxpr, Literal, Var
from ..registry.discovery import registry
from ..types.algebra import algebra
from ..types.avals import AbstractValue
from ..types.dtypes import needs_x64
from ..types.typeof import typeof
from .tables import RuleTable

__all__ = (
    "array_of_number",
    "def_impl",
    "eval_freeing",
    "eval_jaxpr",
    "eval_rules",
    "is_overridden",
    "jaxpr_as_fun",
    "with_typed_constants",
)


class EvalRule(Protocol):
    """Computes a primitive on concrete values: ``rule(*args, **params)``, a list if multiple."""

    def __call__(self, *args: Any, **params: Any) -> Any: ...


eval_rules: RuleTable[EvalRule] = RuleTable("eval", signature=EvalRule)
"""The rules of evaluation, which the trace ``EVAL`` applies."""


@eval_rules.deriver
def _evaluate(primitive: Primitive) -> Callable[..., Any] | None:
    """The rule of evaluation: by the provider ``evaluator``, else by the decomposition; where it is
    high by ``high_evaluator``."""
    evaluator = registry().provider("evaluator", default=None)
    rule = primitive.decomposition if evaluator is None else evaluator(primitive)
    if primitive.is_high is None:
        return rule
    return registry().provider("high_evaluator")(primitive, rule)


EVAL.rules, EVAL.miss = eval_rules.rules, eval_rules.miss
EVAL.define = partial(eval_rules.set, override=True)


def is_overridden() -> bool:
    """Return whether other rules of evaluation are set at present: then programs that would be
    compiled whole are evaluated by operations, each by these rules."""
    return EVAL.rules is not eval_rules.rules


def def_impl(primitive: Primitive) -> Callable[[EvalRule], EvalRule]:
    """Decorator: compute ``primitive`` on concrete values by a Python function."""
    return eval_rules.register(primitive)


def eval_jaxpr(jaxpr: Jaxpr, consts: list[Any], *args: Any) -> list[Any]:
    """Run a program under the current trace, equation by equation.

    Raises:
        TypeError: the number of arguments is not that of the program's inputs.
    """
    if len(args) != len(jaxpr.invars):
        raise TypeError(f"the program takes {len(jaxpr.invars)} inputs, {len(args)} given")
    jaxpr, consts = with_typed_constants(jaxpr, consts)
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    inherited = get_override()  # an enclosing program's equation, already the user's line
    scope = get_scope() if inherited is None else ""
    process = get_trace().process
    try:
        try:
            for eqn in jaxpr.eqns:
                vals: list[Any] = [
                    x.val if x.__class__ is Literal else env[x]  # type: ignore
                    for x in eqn.invars
                ]
                if inherited is None:
                    set_override(within(eqn.source, scope) if scope else eqn.source)
                out = process(eqn.primitive, tuple(vals), eqn.params)
                if eqn.primitive.multiple_results:
                    env.update(zip(eqn.outvars, out))
                else:
                    env[eqn.outvars[0]] = out
        finally:  # as in base.scopes.run_with, without its frame
            set_override(inherited)
    finally:
        set_override(inherited)
    return [x.val if isinstance(x, Literal) else env[x] for x in jaxpr.outvars]


def eval_freeing(closed: ClosedJaxpr, *args: Any) -> list[Any]:
    """Do as :func:`eval_jaxpr`, and free each computed value after its last use."""
    jaxpr, consts = with_typed_constants(closed.jaxpr, closed.consts)
    last = _last_uses(jaxpr)
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    inherited = get_override()
    process = get_trace().process
    try:
        for eqn, dead in zip(jaxpr.eqns, last):
            vals = tuple([x.val if isinstance(x, Literal) else env[x] for x in eqn.invars])
            if inherited is None:
                set_override(eqn.source)
            out = process(eqn.primitive, vals, eqn.params)
            env.update(zip(eqn.outvars, out if eqn.primitive.multiple_results else (out,)))
            for var in dead:
                del env[var]
            del vals, out
    finally:
        set_override(inherited)
    return [x.val if isinstance(x, Literal) else env[x] for x in jaxpr.outvars]


def _last_uses(jaxpr: Jaxpr) -> list[list[Var]]:
    """Per equation, the variables that nothing after it uses."""
    live: set[Any] = set(jaxpr.outvars)
    result: list[list[Var]] = []
    for eqn in reversed(jaxpr.eqns):
        here = {v: None for v in (*eqn.invars, *eqn.outvars) if isinstance(v, Var)}
        result.append([v for v in here if v not in live])
        live.update(here)
    return result[::-1]


def with_typed_constants(jaxpr: Jaxpr, consts: list[Any]) -> tuple[Jaxpr, list[Any]]:
    """The program and its constants, such that each has its type in the program at present.

    A Python or NumPy number is of another type under another mode of 64-bit types. A number that
    was recorded under the other mode, and would have another type now, becomes a constant array.
    """
    wide = enable_x64_state.value
    result = jaxpr.typed.get(wide)
    if result is None:
        result = jaxpr.typed[wide] = _with_typed_literals(jaxpr)
    typed, values = result
    if consts:
        consts = [
            _at_type(c, v.aval) if isinstance(c, _NUMPY) else c
            for c, v in zip(consts, jaxpr.constvars)
        ]
    return (jaxpr, consts) if typed is None else (typed, [*consts, *values])


_NUMPY = (np.ndarray, np.generic)
_NUMBERS = frozenset({int, float, complex})


def _with_typed_literals(jaxpr: Jaxpr) -> tuple[Jaxpr | None, list[Any]]:
    """The program whose literals of another type at present are constants, and their values.

    None in place of a program that needs no change, which would refer to itself.
    """
    result: dict[int, tuple[Var, Any]] = {}
    for atoms in (*[e.invars for e in jaxpr.eqns], jaxpr.outvars):
        for x in atoms:
            if x.__class__ is Literal and typeof(x.val) is not x.aval:  # type: ignore[union-attr]
                value = _at_type(x.val, x.aval)  # type: ignore[union-attr]
                if value is not x.val:  # type: ignore[union-attr]
                    result[id(x)] = Var(x.aval), value
    if not result:
        return None, []
    other = {i: v for i, (v, _) in result.items()}
    eqns = [e.replace(invars=[other.get(id(x), x) for x in e.invars]) for e in jaxpr.eqns]
    typed = jaxpr.replace(
        constvars=[*jaxpr.constvars, *other.values()],
        outvars=[other.get(id(x), x) for x in jaxpr.outvars],
        eqns=eqns,
    )
    return typed, [value for _, value in result.values()]


def _at_type(x: Any, aval: AbstractValue) -> Any:
    """A number as it is, or as an array if it would be of another type at present."""
    if typeof(x) is aval or aval.numpy_dtype() is None:
        return x
    with enable_x64(needs_x64(aval.dtype)):  # type: ignore[attr-defined]
        return run_under(EVAL, algebra().array, x, aval)


def array_of_number(x: Any, wide: bool) -> Any:
    """A number or a NumPy array as an array of the type that it has under a mode of 64-bit types;
    values that have the same type under both modes as they are."""
    if x.__class__ not in _NUMBERS and not (issubclass(x.__class__, _NUMPY) and needs_x64(x.dtype)):
        return x
    with enable_x64(wide):
        return run_under(EVAL, algebra().array, x, typeof(x))


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The program as a function of its inputs, returning the list of its outputs."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)
