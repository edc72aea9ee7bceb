"""Pushforwards under a transformation that lifts values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_ad import has_tangent, in_turns, jvp_values, typed
from dovetail_core import Primitive, lift_call, stage_closed, typeof

from .frame import Flags, FlatRules, body_of, pick, spread
from .lifting import lift_primitive
from .primitive import program_primitive


def lift_pushed(
    push: Primitive, primitive: Primitive, rules: FlatRules, carrier: Any, mask: Flags,
    args: Sequence[Any], params: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """Apply a pushforward to lifted operands.

    Where tangents are lifted like their primals, and are lifted tangents, it is the pushforward of
    the lifted primitive. Else what it does is lifted: so primals that are not lifted, as under
    ``jacfwd``, are computed once.
    """
    n = len(mask)
    ins = [carrier.structure(v, 0) for v in args]
    tangents = spread(ins[n:], mask)
    alike = all(t is None or carrier.join_structures(p, t) == p for p, t in zip(ins, tangents))
    if carrier.has_instances and alike:
        return _pushforward_of_lifted(primitive, carrier, mask, args, params)
    if rules.differentiates or rules.reduce is None or body_of(params) is None:
        run: Any = push.decomposition
        return lift_call(carrier, run, args)
    return _lift_as_primitive(push, rules, carrier, mask, args, params)


def _pushforward_of_lifted(
    primitive: Primitive, carrier: Any, mask: Flags, args: Sequence[Any], params: dict[str, Any]
) -> list[Any]:
    n = len(mask)
    tangents = spread(args[n:], mask)
    ins = [carrier.structure(p, 0) for p in args[:n]]
    outs: list[Any] = []

    def of_arrays(*arrays: Any) -> list[Any]:
        values = [carrier.value([x], s, 0) for x, s in zip(arrays, ins)]
        # Through the carrier's trace: a primitive may have a rule of its own in its table.
        result = lift_call(carrier, lambda *xs: primitive.bind(*xs, **params), values)
        outs[:] = [carrier.structure(v, 0) for v in result]
        return [carrier.arrays(v, s, 0)[0] for v, s in zip(result, outs)]

    primals = [carrier.arrays(v, s, 0)[0] for v, s in zip(args, ins)]
    dots = [None if t is None else carrier.arrays(t, s, 0)[0] for t, s in zip(tangents, ins)]
    results, result = jvp_values(of_arrays, primals, dots)
    joined = in_turns(results, result)
    each = [s for s, x in zip(outs, results) for _ in range(1 + has_tangent(typeof(x)))]
    return [carrier.value([x], s, 0) for x, s in zip(joined, each)]


def _lift_as_primitive(
    push: Primitive, rules: FlatRules, carrier: Any, mask: Flags, args: Sequence[Any],
    params: dict[str, Any],
) -> list[Any]:  # fmt: skip
    """A pushforward of a body that its author says how to reduce, as a primitive with that rule."""

    def make() -> tuple[Primitive, FlatRules, Any]:
        run: Any = push.decomposition
        program = stage_closed(run, [carrier.aval(v) for v in args], push.name)
        reduce = _pushed_reduce(rules, mask, body_of(params).out_avals)
        own = FlatRules(push.name, rules.origin, ("",) * len(args), reduce=reduce)
        return program_primitive(own), own, program

    primitive, own, program = rules.derived(body_of(params), ("lifted pushforward", mask), make)
    return lift_primitive(primitive, own, carrier, args, {"program": program})


def _pushed_reduce(
    rules: FlatRules, mask: Flags, avals: Sequence[Any]
) -> Callable[[Flags], Callable[..., list[Any]]]:
    reduce: Any = rules.reduce
    n = len(mask)

    def reduced(used: Flags) -> Callable[..., list[Any]]:
        rest = iter(used)
        each = [[next(rest) for _ in range(1 + has_tangent(a))] for a in avals]
        wanted = tuple(any(flags) for flags in each)
        f = reduce(wanted)

        def run(*args: Any) -> list[Any]:
            outs, tangents = jvp_values(f, args[:n], spread(args[n:], mask))
            result = in_turns([typed(x, a) for x, a in zip(outs, pick(avals, wanted))], tangents)
            return pick(result, [u for flags in pick(each, wanted) for u in flags])

        return run

    return reduced
