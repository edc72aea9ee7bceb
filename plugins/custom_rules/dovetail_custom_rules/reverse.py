"""Primitives whose transposes are authors' functions: linear functions, and parts of functions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any
from weakref import ref

from dovetail_ad import has_tangent, is_linear, jvp_values, transposed_call, typed
from dovetail_base.options import traced_under
from dovetail_core import (
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
    stage,
    typeof,
    zeros_like_aval,
)

from .checks import names_rule
from .dce import Reduced, dce_rule
from .frame import Backward, Flags, FlatRules, Transposed, body_of, pick, spread, varying_beyond


def transpose_rule(transposed: Transposed, name: str) -> Callable[..., Any]:
    """The rule of ``ad.transpose``: the author's rule, on the operands that are known."""

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
    """The rule of ``ad.jvp``: the primitive itself on tangents of what it is linear in, and the
    derivative of its body for the rest."""

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
    """Tangents of results: the backward function, which is linear in cotangents, transposed.

    No backward pass happens: what the function would write to mutable residuals goes to copies.

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
    """A mutable value that holds what ``x`` does; ``x`` itself if it is not mutable."""
    aval = typeof(x)
    return aval.make(aval.read(x)) if aval.is_mutable else x


def linear_primitive(
    rules: FlatRules, token: Any, residuals: int, mask: Flags, out_avals: Sequence[Any],
    known_avals: Sequence[Any],
) -> Primitive:  # fmt: skip
    """The linear map from tangents to tangents whose transpose is the backward function.

    Its operands are the residuals, the primals if there is a rule of forward mode, and the tangents
    that ``mask`` marks. ``known_avals`` are the types of residuals and primals. Evaluated, it is
    the linear map of the moment when it was made; the backward function that transposes it runs
    under the options and user contexts of its own call.
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
