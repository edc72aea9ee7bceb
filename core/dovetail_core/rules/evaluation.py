"""Evaluation: the table ``eval``, and running a program by binding its equations one by one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

from ..base.source import get_override, reset_override, set_override
from ..dispatch.primitive import EVAL, Primitive
from ..ir.programs import ClosedJaxpr, Jaxpr, Literal, Var
from .tables import RuleTable


class EvalRule(Protocol):
    """Computes a primitive on concrete values: ``rule(*args, **params)``, a list if multiple."""

    def __call__(self, *args: Any, **params: Any) -> Any: ...


eval_rules: RuleTable[EvalRule] = RuleTable("eval", signature=EvalRule)
"""Computing now; ``EVAL``, the trace at rest, applies these rules."""

EVAL.rules, EVAL.miss = eval_rules.rules, eval_rules.miss


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
    env: dict[Var, Any] = dict(zip(jaxpr.constvars, consts))
    env.update(zip(jaxpr.invars, args))
    inherited = get_override()  # an enclosing program's equation, already the user's line
    for eqn in jaxpr.eqns:
        vals = [x.val if x.__class__ is Literal else env[x] for x in eqn.invars]  # type: ignore
        token = set_override(inherited or eqn.source)
        try:
            out = eqn.primitive.bind(*vals, **eqn.params)
        finally:
            reset_override(token)
        if eqn.primitive.multiple_results:
            env.update(zip(eqn.outvars, out))
        else:
            env[eqn.outvars[0]] = out
    return [x.val if isinstance(x, Literal) else env[x] for x in jaxpr.outvars]


def jaxpr_as_fun(closed: ClosedJaxpr) -> Callable[..., list[Any]]:
    """The program as a function of its inputs, returning the list of its outputs."""
    return lambda *args: eval_jaxpr(closed.jaxpr, closed.consts, *args)
