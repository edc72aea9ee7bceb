"""Dead code: an author's rule computes what is used, in place of the whole function."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

from dovetail_core import ClosedJaxpr, Eqn, Primitive, Var, dce_closed, jaxpr_as_fun, stage_closed
from dovetail_core.types.effects import lasting

from .flat import Backward, Flags, FlatRules, pick, spread
from .selection import Reduced, selected
from .zeros import has_tangent

DceCell = Callable[[list[bool], Eqn], Reduced]

# The rules that are being run, with the results asked for: a rule may call the function itself.
_running: ContextVar[frozenset[Any]] = ContextVar("dovetail_running_dce", default=frozenset())


class Reduction(NamedTuple):
    """What stands in for a row of which only some results are used.

    ``needed`` are the operands of the original that it takes.
    """

    row: Primitive
    rules: FlatRules
    program: ClosedJaxpr
    needed: Flags


@contextmanager
def running(rules: FlatRules, program: ClosedJaxpr, used: Flags) -> Iterator[None]:
    """Inside, the rule for these results is not run once more."""
    token = _running.set(_running.get() | {_run_key(rules, program, used)})
    try:
        yield
    finally:
        _running.reset(token)


def _run_key(rules: FlatRules, program: ClosedJaxpr, used: Flags) -> Any:
    return rules.origin, used, tuple(program.in_avals)


def reduction(rules: FlatRules, program: ClosedJaxpr, used: Flags) -> Reduction | None:
    """The row for the ``used`` results of a function with the body ``program``.

    None where there is no rule, all are used, or the rule that would be run is running (it calls
    the function for the same results): then the row stays whole.
    """
    if rules.reduce is None or all(used):
        return None
    if _run_key(rules, program, used) in _running.get():
        return None
    reduce = rules.reduce

    def make() -> Reduction:
        with running(rules, program, used):
            return _reduce(rules, reduce, program, used)

    return rules.derived(program, ("reduced", used), make)


def _reduce(
    rules: FlatRules, reduce: Callable[[Flags], Any], program: ClosedJaxpr, used: Flags
) -> Reduction:
    staged = _stage_rule(rules.name, reduce(used), program)
    # A function with derivative rules keeps its operands: the rules speak of all of them.
    smaller, needed = dce_closed(staged, [True] * sum(used), rules.differentiates)
    return _made(rules, reduce, program, used, smaller, tuple(needed))


def _stage_rule(name: str, f: Callable[..., Any], program: ClosedJaxpr) -> ClosedJaxpr:
    staged = stage_closed(f, program.in_avals, f"the dce rule of {name}")
    return ClosedJaxpr(staged.jaxpr.replace(name=name), staged.consts)


def _made(
    rules: FlatRules, reduce: Callable[[Flags], Any], program: ClosedJaxpr, used: Flags,
    smaller: ClosedJaxpr, needed: Flags,
) -> Reduction:  # fmt: skip
    from .row import program_row

    def again(used_now: Flags) -> Callable[..., list[Any]]:
        """Of what remains: the rule again where its operands suffice, else plain elimination."""
        rest = iter(used_now)
        whole = tuple(u and next(rest) for u in used)
        asked = _stage_rule(rules.name, reduce(whole), program)
        found, wants = dce_closed(asked, [True] * sum(whole))
        if any(w and not n for w, n in zip(wants, needed)):
            return lambda *args: pick(jaxpr_as_fun(smaller)(*args), used_now)
        return lambda *args: jaxpr_as_fun(found)(*pick(args, pick(wants, needed)))

    left = FlatRules(
        rules.name,
        rules.origin,
        tuple(pick(rules.fixed, needed)),
        jvp=_restricted_jvp(rules, used),
        vjp=_restricted_vjp(rules.vjp, used),
        reduce=again,
    )
    return Reduction(program_row(left), left, smaller, needed)


def _restricted_jvp(rules: FlatRules, used: Flags) -> Any:
    jvp = rules.jvp
    if jvp is None:
        return None

    def restricted(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        outs, found = jvp(primals, tangents)
        return pick(outs, used), pick(found, used)

    return restricted


def _restricted_vjp(vjp: Backward | None, used: Flags) -> Backward | None:
    if vjp is None:
        return None

    def fwd(primals: Sequence[Any], mask: Flags) -> Any:
        outs, residuals, token = vjp.fwd(primals, mask)
        return pick(outs, used), residuals, token

    return Backward(
        fwd, lambda token, res, cts: vjp.bwd(token, res, spread(cts, used)), vjp.name, vjp.lean
    )


def dce_rule(rules: FlatRules) -> DceCell:
    """The rule of ``dce`` of a row."""

    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not lasting(eqn.effects):
            return [False] * len(eqn.invars), None
        found = None if eqn.effects else reduction(rules, eqn.params["program"], tuple(used))
        if found is None:
            return [True] * len(eqn.invars), eqn
        return list(found.needed), eqn.replace(
            primitive=found.row,
            invars=pick(eqn.invars, found.needed),
            outvars=pick(eqn.outvars, used),
            params={"program": found.program},
            effects=found.program.effects,
        )

    return rule


def pushed_dce_rule(
    push: Primitive, row: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> DceCell:
    """The rule of ``dce`` of a pushforward: without the tangents it is the row, and where the
    derivative is the body's, the function is reduced first."""
    program: Any = params.get("program")

    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not lasting(eqn.effects):
            return [False] * len(eqn.invars), None
        if eqn.effects:
            return [True] * len(eqn.invars), eqn
        avals = program.out_avals
        outs, tangents = _apart(avals, used)
        result_vars, tangent_vars = _apart(avals, eqn.outvars)
        n = len(mask)
        if not any(tangents):
            plain = eqn.replace(
                primitive=row, invars=eqn.invars[:n], outvars=result_vars, params=params
            )
            needs, reduced = dce_rule(rules)(outs, plain)
            return [*needs, *[False] * (len(eqn.invars) - n)], reduced
        wanted = tuple(bool(o or t) for o, t in zip(outs, tangents))
        found = None if rules.differentiates else reduction(rules, program, wanted)
        every = [True] * len(eqn.invars)
        if found is None and all(used):
            return every, eqn
        if found is None:
            smaller = selected(push, tuple(used))
            return every, eqn.replace(primitive=smaller, outvars=pick(eqn.outvars, used))
        from .pushing import pushforward

        moved = tuple(pick(mask, found.needed))
        smaller = pushforward(found.row, found.rules, moved, {"program": found.program})
        needed = [*found.needed, *pick(found.needed, mask)]
        variables: list[Var] = []
        for w, o, t in zip(wanted, result_vars, tangent_vars):
            variables += [x for x in (o, t) if w and x is not None]
        return needed, eqn.replace(
            primitive=smaller, invars=pick(eqn.invars, needed), outvars=variables, params={}
        )

    return rule


def _apart(avals: Sequence[Any], values: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """What stands for results and for their tangents (None for integers) among values in turns."""
    rest = iter(values)
    pairs = [(next(rest), next(rest) if has_tangent(a) else None) for a in avals]
    return [x for x, _ in pairs], [t for _, t in pairs]
