"""Dead code elimination by authors' rules, which compute only the used results of a function."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

from dovetail_ad import typed
from dovetail_base.scopes import run_with
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Primitive,
    Var,
    dce_closed,
    effects,
    jaxpr_as_fun,
    mutable_values,
    stage_closed,
)
from dovetail_tree.util import flatten_one_level, tree_structure, tree_unflatten

from .checks import arrayed, check_type, differences, name_of, path_of
from .flat_rules import Backward, Flags, FlatRules, body_of, pick, spread
from .frame import Frame
from .primitive import program_primitive

Reduced = tuple[list[bool], Eqn | None]


def selected(primitive: Primitive, used: Flags) -> Primitive:
    """``primitive`` with the ``used`` results only, and its rules."""
    rules: Any = primitive.rules
    run: Any = primitive.decomposition
    made = Primitive(primitive.name, multiple_results=True, anonymous=True)
    made.def_decomposition(lambda *args, **params: pick(run(*args, **params), used))
    infer: Any = primitive.abstract_eval

    @made.def_effectful_abstract_eval
    def _type(*avals: Any, **params: Any) -> Any:
        types, effects = infer(*avals, **params)
        return pick(types, used), effects

    made.traits = primitive.traits
    lift: Any = primitive.lift
    made.lift = lambda carrier, args, params: pick(lift(carrier, args, params), used)
    split = rules["ad.partial_eval"]

    def partial_eval(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return pick(split(trace, args, params), used)

    def dce(used_now: list[bool], eqn: Eqn) -> Reduced:
        variables = spread(eqn.outvars, used)
        types = infer(*[x.aval for x in eqn.invars], **eqn.params)[0]
        every = [Var(a) if v is None else v for v, a in zip(variables, types)]
        requested = [bool(u) for u in spread(used_now, used)]
        return rules["dce"](requested, eqn.replace(primitive=primitive, outvars=every))

    made.rules = {
        "ad.partial_eval": partial_eval,
        "backends.stablehlo": lean_lowering(made),
        "dce": dce,
        "eval": made.decomposition,  # type: ignore[dict-item]
    }
    return made


def lean_lowering(primitive: Primitive) -> Callable[..., Any]:
    """The rule of ``backends.stablehlo`` that lowers a decomposition without dead code."""
    run: Any = primitive.decomposition
    name = primitive.name

    def rule(b: Any, *operands: Any, **params: Any) -> list[Any]:
        program: ClosedJaxpr = stage_closed(
            lambda *xs: run(*xs, **params), [x.aval for x in operands], name
        )
        used = [True] * len(program.out_avals)
        return b.inline(dce_closed(program, used, True)[0], operands)

    return rule


def flat_dce(frame: Frame, rule: Callable[..., Any]) -> Callable[[Flags], Any]:
    """The flat rule of ``rule(*static, used_outs, *arguments)``, which returns the result with None
    for unused leaves."""
    what = f"the dce rule {name_of(rule)} of {frame.name}"

    def reduce(used: Flags) -> Callable[..., list[Any]]:
        flags = tree_unflatten(frame.out_tree, list(used))
        static = [frame.statics[i] for i in sorted(frame.statics)]

        def run(*operands: Any) -> list[Any]:
            arguments = frame.arguments(operands)
            rest = [x for i, x in enumerate(arguments) if i not in frame.statics]
            out = frame.run(frame.constants(operands), rule, *static, flags, *rest)
            return _used_leaves(frame, what, out, used)

        return run

    return reduce


def _used_leaves(frame: Frame, what: str, out: Any, used: Flags) -> list[Any]:
    """The used leaves of the result of a rule.

    Raises:
        TypeError: a container differs from that in the function's result. ValueError: a used result
            is None, or of another type. Names rule, function, path and both types.
    """
    leaves: list[Any] = []
    full = tree_unflatten(frame.out_tree, list(range(len(used))))
    if not _walk(full, out, leaves):
        raise TypeError(
            f"{what} returned another structure than {frame.name} itself: "
            f"{differences(frame.out_tree, tree_structure(out))}. Return that structure, with "
            "None for what is not used."
        )
    result: list[Any] = []
    for i, (x, u) in enumerate(zip(leaves, used)):
        if not u:
            continue
        want = frame.out_avals[i]
        if x is None:
            path = path_of(frame.out_tree, i)
            raise ValueError(
                f"{what} returned None for the output{f' {path}' if path else ''}, which is used: "
                f"{frame.name} returns {want.str_short()} there. Compute every output whose entry "
                "in used_outs is true."
            )
        check_type(x, want, f"{what} returned", frame.out_tree, i, f"{frame.name} returns",
                   ValueError)  # fmt: skip
        result.append(typed(arrayed(x), want))
    return result


def _walk(full: Any, out: Any, leaves: list[Any]) -> bool:
    """Collect the values of ``out`` at the leaves of ``full``; None may replace any subtree.

    Leaves of ``full`` are integers. Returns False if the containers differ.
    """
    if isinstance(full, int):
        if out is not None and tree_structure(out).num_nodes != 1:
            return False
        leaves.append(out)
        return True
    if out is None:
        leaves.extend([None] * tree_structure(full).num_leaves)
        return True
    if tree_structure(full).num_leaves == 0:
        return tree_structure(out) == tree_structure(full)
    if type(out) is not type(full):
        return False
    ours, aux = flatten_one_level(full)
    theirs, their_aux = flatten_one_level(out)
    ours, theirs = list(ours), list(theirs)
    if len(ours) != len(theirs) or aux != their_aux:
        return False
    return all(_walk(a, b, leaves) for a, b in zip(ours, theirs))


DceRule = Callable[[list[bool], Eqn], Reduced]

# The rules that are being run, with the results requested for: a rule may call the function itself.
_running: ContextVar[frozenset[Any]] = ContextVar("dovetail_running_dce", default=frozenset())


class Reduction(NamedTuple):
    """The replacement of a primitive of which only some results are used.

    ``needed`` marks the operands of the original that it takes.
    """

    primitive: Primitive
    rules: FlatRules
    program: ClosedJaxpr
    needed: Flags


def running(
    rules: FlatRules, program: ClosedJaxpr, used: Flags, f: Callable[..., Any], *args: Any
) -> Any:
    """``f(*args)``, in which the rule for these results is not run again."""
    more = _running.get() | {_run_key(rules, program, used)}
    return run_with(_running, more, f, *args)


def _run_key(rules: FlatRules, program: ClosedJaxpr, used: Flags) -> Any:
    return rules.origin, used, tuple(program.in_avals)


def reduction(rules: FlatRules, program: ClosedJaxpr, used: Flags) -> Reduction | None:
    """The primitive for the ``used`` results of a function with the body ``program``.

    None if there is no rule, all results are used, or the rule is being run (it calls the function
    for the same results): then the primitive is not reduced.
    """
    if rules.reduce is None or all(used):
        return None
    if _run_key(rules, program, used) in _running.get():
        return None
    reduce = rules.reduce

    def make() -> Reduction:
        return running(rules, program, used, _reduce, rules, reduce, program, used)

    return rules.derived(program, ("reduced", used), make)


def _reduce(
    rules: FlatRules, reduce: Callable[[Flags], Any], program: ClosedJaxpr, used: Flags
) -> Reduction:
    staged = _stage_rule(rules.name, reduce(used), program)
    # A function with derivative rules keeps its operands, as the rules take all of them.
    smaller, needed = dce_closed(staged, [True] * sum(used), rules.differentiates)
    return _made(rules, reduce, program, used, smaller, tuple(needed))


def _stage_rule(name: str, f: Callable[..., Any], program: ClosedJaxpr) -> ClosedJaxpr:
    staged = stage_closed(f, program.in_avals, f"the dce rule of {name}")
    return mutable_values.discharge_local(
        ClosedJaxpr(staged.jaxpr.replace(name=name), staged.consts)
    )


def _made(
    rules: FlatRules, reduce: Callable[[Flags], Any], program: ClosedJaxpr, used: Flags,
    smaller: ClosedJaxpr, needed: Flags,
) -> Reduction:  # fmt: skip
    def again(used_now: Flags) -> Callable[..., list[Any]]:
        """Reduce again: by the rule if its operands suffice, else by plain elimination."""
        rest = iter(used_now)
        still_used = tuple(u and next(rest) for u in used)
        staged = _stage_rule(rules.name, reduce(still_used), program)
        result, wants = dce_closed(staged, [True] * sum(still_used))
        if any(w and not n for w, n in zip(wants, needed)):
            return lambda *args: pick(jaxpr_as_fun(smaller)(*args), used_now)
        return lambda *args: jaxpr_as_fun(result)(*pick(args, pick(wants, needed)))

    left = FlatRules(
        rules.name,
        rules.origin,
        tuple(pick(rules.fixed, needed)),
        jvp=_restricted_jvp(rules, used),
        vjp=_restricted_vjp(rules.vjp, used),
        reduce=again,
    )
    return Reduction(program_primitive(left), left, smaller, needed)


def _restricted_jvp(rules: FlatRules, used: Flags) -> Any:
    jvp = rules.jvp
    if jvp is None:
        return None

    def restricted(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        outs, result = jvp(primals, tangents)
        return pick(outs, used), pick(result, used)

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


def dce_rule(rules: FlatRules) -> DceRule:
    """The rule of ``dce`` of a primitive."""

    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not effects.must_be_kept(eqn.effects):
            return [False] * len(eqn.invars), None
        result = None if eqn.effects else reduction(rules, body_of(eqn.params), tuple(used))
        if result is None:
            return [True] * len(eqn.invars), eqn
        return list(result.needed), eqn.replace(
            primitive=result.primitive,
            invars=pick(eqn.invars, result.needed),
            outvars=pick(eqn.outvars, used),
            params={"program": result.program},
            effects=result.program.effects,
        )

    return rule


def dce_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The rule of ``dce`` of a primitive."""
    return {"dce": dce_rule(rules)}
