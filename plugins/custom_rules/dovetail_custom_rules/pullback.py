"""Reverse mode by the body: of functions without derivative rules, but with one of dce or vmap.

It keeps the primals and computes what it needs of the function again, so that once it is known
which tangents or cotangents are used, or that a mapped axis is there, those rules are used. A
compiler merges what the first computation and this one have in common.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import has_tangent, jvp_values, vjp
from dovetail_base.options import traced_under
from dovetail_core import (
    ClosedJaxpr,
    Eqn,
    Primitive,
    Traits,
    effects,
    jaxpr_as_fun,
    stage_closed,
    zeros_like_aval,
)

from .checks import is_zero
from .dce import Reduced, reduction, running
from .frame import Flags, FlatRules, body_of, pick, spread, varying_beyond
from .lifting import to_front
from .primitive import program_primitive


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

    Batched, it is that of the author's batched function.
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
        # Each element has its own cotangent, also of an operand that all have in common.
        whole = [*mask, *[True] * (len(args) - n)]
        every = [to_front(axis, x, d) if w else x for x, d, w in zip(args, dims, whole)]
        places = [0 if w else d for d, w in zip(dims, whole)]

        def mapped(*xs: Any) -> list[Any]:
            assert rules.batch is not None
            outs, out_dims = rules.batch(axis, xs, places[:n])
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
    """From primals, and tangents where ``mask`` says so, to the tangents of the results."""
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
    """Cotangents of the operands in ``mask``, through the function reduced to what is given."""
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
