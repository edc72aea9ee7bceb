"""A forward function as a row: where its residuals turn out unused, the function stands in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import Eqn, Primitive, consts_to_inputs, eval_jaxpr, stage, typeof
from dovetail_core.types.effects import lasting

from .elimination import dce_rule
from .flat import Backward, Flags, FlatRules
from .selection import Reduced
from .zeros import typed


def forward_row(
    row: Primitive, rules: FlatRules, vjp: Backward, mask: Flags, primals: Sequence[Any],
    params: dict[str, Any],
) -> tuple[list[Any], list[Any], Any]:  # fmt: skip
    """Results, residuals and token of the forward function, bound as one row."""
    token: list[Any] = []
    avals = params["program"].out_avals
    n = len(avals)

    def run(*xs: Any) -> list[Any]:
        outs, residuals, inner = vjp.fwd(xs, mask)
        token[:] = [inner]
        return [*(typed(x, a) for x, a in zip(outs, avals)), *residuals]

    jaxpr, consts = stage(run, [typeof(x) for x in primals], f"{rules.name}_forward")
    body = consts_to_inputs(jaxpr)
    forward = Primitive(f"{rules.name}_forward", multiple_results=True, anonymous=True)
    forward.def_effectful_abstract_eval(lambda *_: (body.out_avals, body.effects))
    forward.def_decomposition(lambda *xs: eval_jaxpr(body.jaxpr, body.consts, *xs))
    k = len(consts)

    def dce(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not lasting(eqn.effects):
            return [False] * len(eqn.invars), None
        if any(used[n:]):
            return [True] * len(eqn.invars), eqn
        plain = eqn.replace(
            primitive=row, invars=eqn.invars[k:], outvars=eqn.outvars[:n], params=params,
            effects=params["program"].effects,
        )  # fmt: skip
        needs, reduced = dce_rule(rules)(used[:n], plain)
        return [*[False] * k, *needs], reduced

    forward.rules = {"dce": dce}
    results = forward.bind(*consts, *primals)
    return list(results[:n]), list(results[n:]), token[0]
