"""The linear part of a function without derivative rules, but with rules of dce or batching.

It keeps the primals and computes what it needs of the function again, so that once it is known
which tangents or cotangents are used, or that a mapped axis is there, those rules are used. A
compiler merges what the first computation and this one have in common.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_values
from dovetail_core import Eqn, Primitive, jaxpr_as_fun
from dovetail_core.types.algebra import zeros
from dovetail_core.types.effects import lasting

from .elimination import reduction, running
from .flat import Flags, FlatRules, pick, spread
from .pulling import pull, pull_row
from .selection import Reduced
from .zeros import has_tangent


def reducible_linear(
    row: Primitive, rules: FlatRules, mask: Flags, params: dict[str, Any]
) -> Primitive:
    """From primals, and tangents where ``mask`` says so, to the tangents of the results."""
    program = params["program"]
    return rules.derived(program, ("linear", mask), lambda: _reducible_linear(rules, mask, program))


def _reducible_linear(rules: FlatRules, mask: Flags, program: Any) -> Primitive:
    linear = Primitive(f"{rules.name}_linear", multiple_results=True, anonymous=True)
    live = [has_tangent(a) for a in program.out_avals]
    types = [a.tangent_type() for a in pick(program.out_avals, live)]
    body = jaxpr_as_fun(program)
    n = len(mask)
    linear.def_effectful_abstract_eval(lambda *_: (types, program.effects))

    @linear.def_decomposition
    def run(*args: Any) -> list[Any]:
        _, found = jvp_values(body, args[:n], spread(args[n:], mask))
        return [zeros(a) if t is None else t for t, a in zip(pick(found, live), types)]

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
    """Cotangents of the operands in ``mask``, through the function reduced to what is given."""
    used = tuple(bool(g) for g in given)
    cts = [ct for ct in cotangents if ct is not None]
    found = reduction(rules, program, used)
    if found is None and rules.batch is not None:
        return pull_row(rules, program, mask, used).bind(*primals, *cts)
    if found is None:
        return pull(jaxpr_as_fun(program), mask, used, primals, cts)
    needed = found.needed
    moved = tuple(pick(mask, needed))
    with running(rules, program, used):
        f = jaxpr_as_fun(found.program)
        pulled = iter(pull(f, moved, (True,) * sum(used), pick(primals, needed), cts))
    return pick([next(pulled) if m and n else None for m, n in zip(mask, needed)], mask)


def _dce(rules: FlatRules, mask: Flags, program: Any, live: Sequence[bool]) -> Any:
    def rule(used: list[bool], eqn: Eqn) -> Reduced:
        if not any(used) and not lasting(eqn.effects):
            return [False] * len(eqn.invars), None
        if eqn.effects:
            return [True] * len(eqn.invars), eqn
        wanted = tuple(bool(u) for u in spread(used, live))
        found = reduction(rules, program, wanted)
        if found is None:
            return [True] * len(eqn.invars), eqn
        moved = tuple(pick(mask, found.needed))
        smaller = reducible_linear(found.row, found.rules, moved, {"program": found.program})
        needed = [*found.needed, *pick(found.needed, mask)]
        return needed, eqn.replace(
            primitive=smaller,
            invars=pick(eqn.invars, needed),
            outvars=pick(eqn.outvars, used),
            params={},
        )

    return rule
