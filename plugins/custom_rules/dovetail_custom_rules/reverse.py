"""Reverse mode: linear primitives whose transposes are authors' functions, and pullbacks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from dovetail_ad import has_tangent, is_linear, jvp_values, transposed_call, typed, vjp
from dovetail_base.options import traced_under
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    MissingRule,
    Primitive,
    TracedValueError,
    Traits,
    UnexpectedTracerError,
    add_tangents,
    consts_to_inputs,
    effects,
    eval_jaxpr,
    jaxpr_as_fun,
    stage,
    stage_closed,
    typeof,
    zeros_like_aval,
)

from .checks import is_zero, names_rule
from .dce import Reduced, dce_rule, reduction, running
from .flat_rules import (
    Backward,
    Flags,
    FlatRules,
    Transposed,
    body_of,
    pick,
    spread,
    varying_beyond,
)
from .lifting import to_front
from .primitive import program_primitive


def transpose_rule(transposed: Transposed, name: str) -> Callable[..., Any]:
    """The rule of ``ad.transpose``: the author's rule, on the known operands."""

    def rule(cotangents: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
        for x, linear in zip(args, transposed.linear):
            if is_linear(x) and not linear:
                raise MissingRule(
                    f"{name} is transposed with respect to a residual argument, in which it is not "
                    "linear: its transpose rule only speaks of its linear arguments."
                )
        known = [None if is_linear(x) else x for x in args]
        result = transposed.apply(known, cotangents)
        return [ct if is_linear(x) else None for ct, x in zip(result, args)]

    return rule


def linear_jvp_rule(primitive: Primitive, transposed: Transposed) -> Callable[..., Any]:
    """The rule of ``ad.jvp``: the primitive itself on tangents of its linear operands, and the
    derivative of its body for the others."""

    this: Any = ref(primitive)

    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> tuple[Any, Any]:
        primitive = this()
        body: Any = primitive.decomposition
        outs = primitive.bind(*primals, **params)
        totals: list[Any] = [None] * len(outs)
        linear = transposed.linear
        if any(t is not None for t, f in zip(tangents, linear) if f):
            operands = [
                x if not f else zeros_like_aval(typeof(x)) if t is None else t
                for x, t, f in zip(primals, tangents, linear)
            ]
            totals = list(primitive.bind(*operands, **params))
        rest = [None if f else t for t, f in zip(tangents, linear)]
        if any(t is not None for t in rest):
            more = jvp_values(lambda *xs: body(*xs, **params), primals, rest)[1]
            totals = [
                a if b is None else b if a is None else add_tangents(a, b)
                for a, b in zip(totals, more)
            ]
        return outs, totals

    return rule


def tangents_by_transposition(
    rules: FlatRules, token: Any, residuals: Sequence[Any], out_avals: Sequence[Any],
    tangents: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Tangents of results, by transposition of the backward function, linear in cotangents.

    No backward pass happens: writes of the function to mutable residuals go to copies.

    Raises:
        TypeError: it cannot be transposed; names it.
    """
    vjp = rules.vjp
    assert vjp is not None
    live = [has_tangent(a) for a in out_avals]
    types = [a.cotangent_type() for a in pick(out_avals, live)]
    residuals = [_copied(x) for x in residuals]
    try:
        result = transposed_call(
            lambda *cts: vjp.bwd(token, residuals, spread(cts, live)), types, tangents
        )
    except (MissingRule, TracedValueError, UnexpectedTracerError) as e:
        if names_rule(e):
            raise
        why = f"{e}"
        if isinstance(e, UnexpectedTracerError):
            why = "it is not linear in the cotangent (it multiplies two values that depend on it)."
        raise TypeError(
            f"forward-mode differentiation of {rules.name} runs its backward function {vjp.name} "
            f"transposed, because it has no rule of forward mode, and {vjp.name} cannot be "
            f"transposed: {why} Give {rules.name} a rule of forward mode (def_jvp), or "
            "differentiate in reverse mode (grad, vjp)."
        ) from e
    return spread(result, live)


def _copied(x: Any) -> Any:
    """A copy of a mutable value; ``x`` itself if it is not mutable."""
    aval = typeof(x)
    return aval.make(aval.read(x)) if aval.is_mutable else x


def linear_primitive(
    rules: FlatRules, token: Any, residuals: int, mask: Flags, out_avals: Sequence[Any],
    known_avals: Sequence[Any],
) -> Primitive:  # fmt: skip
    """The linear map from tangents to tangents whose transpose is the backward function.

    Its operands are the residuals, the primals if there is a rule of forward mode, and the tangents
    marked in ``mask``. ``known_avals`` are the types of residuals and primals. It is evaluated
    under the options and user contexts of the moment when it was made; the backward function that
    transposes it runs under those of its own call.
    """
    vjp, jvp = rules.vjp, rules.jvp
    assert vjp is not None
    linear = Primitive(f"{rules.name}_linear", multiple_results=True, anonymous=True)
    linear.traits = Traits(pulls_zeros=True, varies=varying_beyond(known_avals))
    live = [has_tangent(a) for a in out_avals]
    types = [a.tangent_type() for a in pick(out_avals, live)]
    linear.def_abstract_eval(lambda *_: types)
    known = residuals if jvp is None else residuals + len(mask)
    under = traced_under()

    def on_tangents(args: Sequence[Any]) -> Sequence[Any]:
        tangents = spread(args[known:], mask)
        if jvp is not None:
            return jvp(args[residuals:known], tangents)[1]
        return tangents_by_transposition(rules, token, args[:residuals], out_avals, tangents)

    @linear.def_decomposition
    def run(*args: Any) -> list[Any]:
        result = under.run(on_tangents, args)
        return [zeros_like_aval(t) if x is None else x for x, t in zip(pick(result, live), types)]

    def transpose(cotangents: Sequence[Any], *args: Any) -> list[Any]:
        cts = vjp.bwd(token, args[:residuals], spread(cotangents, live))
        return [*[None] * known, *pick(cts, mask)]

    linear.rules = {"ad.transpose": transpose, "eval": run}
    return linear


def forward_primitive(
    primitive: Primitive, rules: FlatRules, vjp: Backward, mask: Flags, primals: Sequence[Any],
    params: dict[str, Any],
) -> tuple[list[Any], list[Any], Any]:  # fmt: skip
    """Results, residuals and token of the forward function, bound as one primitive."""
    token: list[Any] = []
    avals = body_of(params).out_avals
    n = len(avals)

    def run(*xs: Any) -> list[Any]:
        outs, residuals, inner = vjp.fwd(xs, mask)
        token[:] = [inner]
        return [*(typed(x, a) for x, a in zip(outs, avals)), *residuals]

    jaxpr, consts = stage(run, [typeof(x) for x in primals], f"{rules.name}_forward")
    body = consts_to_inputs(jaxpr)
    forward = Primitive(f"{rules.name}_forward", multiple_results=True, anonymous=True)
    forward.def_effectful_abstract_eval(lambda *_: (body.out_avals, body.effects))
    forward.traits = Traits(varies=varying_beyond(body.in_avals))
    forward.def_decomposition(lambda *xs: eval_jaxpr(body.jaxpr, body.consts, *xs))
    k = len(consts)

    def dce(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not effects.must_be_kept(eqn.effects):
            return [False] * len(eqn.invars), None
        if any(used[n:]):
            return [True] * len(eqn.invars), eqn
        plain = eqn.replace(
            primitive=primitive, invars=eqn.invars[k:], outvars=eqn.outvars[:n], params=params,
            effects=body_of(params).effects,
        )  # fmt: skip
        needs, reduced = dce_rule(rules)(used[:n], plain)
        return [*[False] * k, *needs], reduced

    forward.rules = {"dce": dce}
    results = forward.bind(*consts, *primals)
    return list(results[:n]), list(results[n:]), token[0]


def transposition_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The rules of a primitive whose author gave a transpose."""
    if rules.transpose is None:
        return {}
    return {
        "ad.transpose": transpose_rule(rules.transpose, rules.name),
        "ad.jvp": linear_jvp_rule(primitive, rules.transpose),
    }


def pullback(
    f: Callable[..., Any], mask: Flags, used: Flags, operands: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Cotangents (None for zeros) of the operands in ``mask``, from those of ``used`` results."""

    def of_differentiable(*xs: Any) -> list[Any]:
        rest = iter(xs)
        return pick(f(*[next(rest) if m else x for x, m in zip(operands, mask)]), used)

    result = vjp(of_differentiable, *pick(operands, mask))[1](list(cts))
    return [None if is_zero(x) else x for x in result]


def pullback_primitive(rules: FlatRules, program: ClosedJaxpr, mask: Flags, used: Flags) -> Bound:
    """:func:`pullback` of the body as a primitive, on operands and cotangents.

    Its batched form is the pullback of the author's batched function.
    """
    key = "pull", mask, used
    return rules.derived(program, key, lambda: _pullback_primitive(rules, program, mask, used))


class Bound:
    """A primitive with its program."""

    def __init__(self, primitive: Primitive, program: ClosedJaxpr) -> None:
        self.primitive = primitive
        self.program = program

    def bind(self, *args: Any) -> list[Any]:
        """The primitive's results."""
        return self.primitive.bind(*args, program=self.program)


def _pullback_primitive(rules: FlatRules, program: ClosedJaxpr, mask: Flags, used: Flags) -> Any:
    n = len(mask)
    wanted = pick(program.in_avals, mask)

    def dense(result: Sequence[Any]) -> list[Any]:
        return [
            zeros_like_aval(a.cotangent_type()) if x is None else x for x, a in zip(result, wanted)
        ]

    body = jaxpr_as_fun(program)
    avals = [*program.in_avals, *(a.cotangent_type() for a in pick(program.out_avals, used))]
    pulled = stage_closed(
        lambda *xs: dense(pullback(body, mask, used, xs[:n], xs[n:])), avals, f"{rules.name}_pull"
    )

    def batch(axis: Any, args: Sequence[Any], dims: Sequence[int | None]) -> Any:
        # Each element has its own cotangent, also for shared operands.
        mapped_flags = [*mask, *[True] * (len(args) - n)]
        every = [to_front(axis, x, d) if w else x for x, d, w in zip(args, dims, mapped_flags)]
        mapped_dims = [0 if w else d for d, w in zip(dims, mapped_flags)]

        def mapped(*xs: Any) -> list[Any]:
            assert rules.batch is not None
            outs, out_dims = rules.batch(axis, xs, mapped_dims[:n])
            return [to_front(axis, x, d) for x, d in zip(outs, out_dims)]

        result = pullback(mapped, mask, used, every[:n], every[n:])
        return [
            zeros_like_aval(a.cotangent_type().update(shape=(axis.size, *a.shape)))
            if x is None
            else x
            for x, a in zip(result, wanted)
        ], [0] * len(result)

    fixed = ("",) * len(avals)
    own = FlatRules(f"{rules.name}_pull", rules.origin, fixed, batch=batch)
    return Bound(program_primitive(own), pulled)


def reducible_linear(
    primitive: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    """The linear primitive from primals, and tangents of those in ``mask``, to result tangents."""
    program = body_of(params)
    return rules.derived(program, ("linear", mask), lambda: _reducible_linear(rules, mask, program))


def _reducible_linear(rules: FlatRules, mask: Flags, program: Any) -> Primitive:
    linear = Primitive(f"{rules.name}_linear", multiple_results=True, anonymous=True)
    live = [has_tangent(a) for a in program.out_avals]
    types = [a.tangent_type() for a in pick(program.out_avals, live)]
    body = jaxpr_as_fun(program)
    n = len(mask)
    linear.def_effectful_abstract_eval(lambda *_: (types, program.effects))
    linear.traits = Traits(varies=varying_beyond(program.in_avals))
    under = traced_under()

    @linear.def_decomposition
    def run(*args: Any) -> list[Any]:
        _, result = under.run(jvp_values, body, args[:n], spread(args[n:], mask))
        return [zeros_like_aval(a) if t is None else t for t, a in zip(pick(result, live), types)]

    def transpose(cotangents: Sequence[Any], *args: Any) -> list[Any]:
        given = spread([ct is not None for ct in cotangents], live)
        return [*[None] * n, *_pull_back(rules, program, mask, given, cotangents, args[:n])]

    linear.rules = {
        "ad.transpose": transpose, "dce": _dce(rules, mask, program, live), "eval": run,
    }  # fmt: skip
    return linear


def _pull_back(
    rules: FlatRules, program: Any, mask: Flags, given: Sequence[Any], cotangents: Sequence[Any],
    primals: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Cotangents of the operands in ``mask``, by the function reduced to the given results."""
    used = tuple(bool(g) for g in given)
    cts = [ct for ct in cotangents if ct is not None]
    result = reduction(rules, program, used)
    if result is None and rules.batch is not None:
        return pullback_primitive(rules, program, mask, used).bind(*primals, *cts)
    if result is None:
        return pullback(jaxpr_as_fun(program), mask, used, primals, cts)
    needed = result.needed
    left = tuple(pick(mask, needed))
    f, wanted = jaxpr_as_fun(result.program), (True,) * sum(used)
    args = f, left, wanted, pick(primals, needed), cts
    pulled = iter(running(rules, program, used, pullback, *args))
    return pick([next(pulled) if m and n else None for m, n in zip(mask, needed)], mask)


def _dce(rules: FlatRules, mask: Flags, program: Any, live: Sequence[bool]) -> Any:
    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not effects.must_be_kept(eqn.effects):
            return [False] * len(eqn.invars), None
        if eqn.effects:
            return [True] * len(eqn.invars), eqn
        wanted = tuple(bool(u) for u in spread(used, live))
        result = reduction(rules, program, wanted)
        if result is None:
            return [True] * len(eqn.invars), eqn
        left = tuple(pick(mask, result.needed))
        smaller = reducible_linear(
            result.primitive, result.rules, left, {"program": result.program}
        )
        needed = [*result.needed, *pick(result.needed, mask)]
        return needed, eqn.replace(
            primitive=smaller,
            invars=pick(eqn.invars, needed),
            outvars=pick(eqn.outvars, used),
            params={},
        )

    return rule
