"""The linear part of a function with a rule of reverse mode: backward function, and transposed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import LinearTrace, backward_pass
from dovetail_core import (
    ConcretizationTypeError,
    MissingRule,
    Primitive,
    UnexpectedTracerError,
    get_trace,
    run_under,
)
from dovetail_core.types.algebra import zeros

from .checks import names_rule
from .flat import Flags, FlatRules, pick, spread
from .zeros import has_tangent


def push_through(
    rules: FlatRules, token: Any, residuals: Sequence[Any], out_avals: Sequence[Any],
    tangents: Sequence[Any],
) -> list[Any]:  # fmt: skip
    """Tangents of results: the backward function, which is linear in cotangents, transposed.

    Raises:
        TypeError: it cannot be transposed; names it.
    """
    vjp = rules.vjp
    assert vjp is not None
    trace = LinearTrace(get_trace())
    unknown = [trace.unknown(a.cotangent_type()) if has_tangent(a) else None for a in out_avals]
    live = [u for u in unknown if u is not None]
    try:
        cts = run_under(trace, vjp.bwd, token, residuals, unknown)
        trace.ended = True  # a product of two cotangents would now be noticed
        pairs = [(ct, t) for ct, t in zip(cts, tangents) if ct is not None and t is not None]
        found = iter(backward_pass(trace, live, [c for c, _ in pairs], [t for _, t in pairs]))
    except (MissingRule, ConcretizationTypeError, UnexpectedTracerError) as e:
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
    return [None if u is None else next(found) for u in unknown]


def linear_row(
    rules: FlatRules, token: Any, residuals: int, mask: Flags, out_avals: Sequence[Any]
) -> Primitive:
    """The row of the linear map from tangents to tangents whose transpose is the backward function.

    Its operands are the residuals, the primals if there is a rule of forward mode, and the tangents
    that ``mask`` marks.
    """
    vjp, jvp = rules.vjp, rules.jvp
    assert vjp is not None
    linear = Primitive(f"{rules.name}_linear", multiple_results=True, anonymous=True)
    live = [has_tangent(a) for a in out_avals]
    types = [a.tangent_type() for a in pick(out_avals, live)]
    linear.def_abstract_eval(lambda *_: types)
    known = residuals if jvp is None else residuals + len(mask)

    @linear.def_decomposition
    def run(*args: Any) -> list[Any]:
        tangents = spread(args[known:], mask)
        if jvp is not None:
            found = jvp(args[residuals:known], tangents)[1]
        else:
            found = push_through(rules, token, args[:residuals], out_avals, tangents)
        return [zeros(t) if x is None else x for x, t in zip(pick(found, live), types)]

    def transpose(cotangents: Sequence[Any], *args: Any) -> list[Any]:
        cts = vjp.bwd(token, args[:residuals], spread(cotangents, live))
        return [*[None] * known, *pick(cts, mask)]

    linear.rules = {"ad.transpose": transpose, "eval": run}
    return linear
