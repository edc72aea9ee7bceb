"""The anonymous primitives of calls of custom functions, which carry their authors' rules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from dovetail_core import (
    Eqn,
    Primitive,
    RegionInterface,
    call_interface,
    eval_jaxpr,
    registry,
    run_under,
)

from .flat_rules import FlatRules, body_name, body_of

Rules = dict[str, Callable[..., Any]]
Maker = Callable[[Primitive, FlatRules], Rules]

makers: list[Maker] = []
"""Functions that make rules of tables for such a primitive; the last one for a table wins.

Rules of one table make primitives with rules for all tables. So the modules for the tables import
this one, and ``rules.py``, which imports all of them, fills the list.
"""


def program_primitive(rules: FlatRules) -> Primitive:
    """The primitive for calls whose body is traced; its parameter is ``program``."""
    primitive = Primitive(rules.name, multiple_results=True, anonymous=True)
    primitive.def_effectful_abstract_eval(type_of_call)
    primitive.def_regions(regions_of_call)
    primitive.def_decomposition(inlined)
    primitive.rules = _rules(primitive, rules)
    primitive.lift = primitive.rules.pop("lift")
    return primitive


def python_primitive(
    rules: FlatRules, body: Callable[..., list[Any]], evaluate: Callable[..., list[Any]]
) -> Primitive:
    """The primitive for a call that is evaluated while it is differentiated, without staging.

    Its body may use concrete values as conditions. ``evaluate`` runs it if all values are concrete.
    """
    primitive = Primitive(rules.name, multiple_results=True, anonymous=True)
    primitive.def_decomposition(body)
    primitive.rules = {**_rules(primitive, rules), "eval": evaluate}
    del primitive.rules["lift"]
    return primitive


def type_of_call(*avals: Any, **params: Any) -> Any:
    """The type rule of a call."""
    program = body_of(params)
    return program.out_avals, program.effects


def regions_of_call(params: dict[str, Any]) -> RegionInterface:
    """The regions of a call: its body."""
    name = body_name(params)
    return call_interface(params[name], lambda program, _: {**params, name: program})


def inlined(*args: Any, **params: Any) -> list[Any]:
    """The operations of the body, one by one."""
    program = body_of(params)
    return eval_jaxpr(program.jaxpr, program.consts, *args)


def lowered(b: Any, *operands: Any, **params: Any) -> list[Any]:
    """The body, lowered inline."""
    return b.inline(body_of(params), operands)


lowered.inlines = True  # type: ignore[attr-defined]  # it writes the operations of the body only


def _rules(primitive: Primitive, rules: FlatRules) -> Rules:
    """The rules, which refer to the primitive weakly, if at all.

    The primitive holds them: in a reference cycle the values that they close over (arguments of the
    call, residuals) would not be freed with the last use.
    """
    run: Any = primitive.decomposition
    result: Rules = {"eval": run}
    if primitive.regions is not None:
        result["backends.stablehlo"] = lowered
    if rules.transpose is None:
        result["ad.partial_eval"] = _opened(primitive)
    for maker in makers:
        result.update(maker(primitive, rules))
    result.update(rules.table_rules)
    if "backends.stablehlo" in rules.table_rules and "eval" not in rules.table_rules:
        result["eval"] = _compiled(primitive)
    return result


def _opened(primitive: Primitive) -> Callable[..., Any]:
    """Partial evaluation for operands that are linear unknowns: of the operations of the body."""

    body: Any = primitive.decomposition

    def rule(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return run_under(trace, body, *args, **params)

    return rule


def _compiled(primitive: Primitive) -> Callable[..., Any]:
    """Evaluation by the backend's rule, made on first use."""
    made: list[Callable[..., Any]] = []
    this = ref(primitive)

    def rule(*args: Any, **params: Any) -> Any:
        if not made:
            made.append(registry().provider("evaluator")(this()))
        return made[0](*args, **params)

    return rule


def saved_primitive(name: str, rule: Callable[..., Any]) -> Primitive:
    """The identity, for which ``rule(policy, type)`` decides instead of the policy."""
    primitive = Primitive(f"{name}_result", anonymous=True)
    primitive.def_abstract_eval(lambda x: x)
    primitive.def_decomposition(lambda x: x)

    def jvp(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return primitive.bind(primals[0]), tangents[0]

    def batch(axis: Any, args: Sequence[Any], dims: Sequence[Any], /) -> tuple[Any, Any]:
        return primitive.bind(args[0]), dims[0]

    def keep(policy: Any, eqn: Eqn) -> Any:
        return rule(policy, *[v.aval for v in eqn.outvars])

    primitive.rules = {
        "ad.jvp": jvp,
        "backends.stablehlo": lambda b, x: x,
        "batching.batch": batch,
        "eval": lambda x: x,
        "remat.keep": keep,
    }
    return primitive
