"""Lifting of primitives with custom rules by transformations for which they have none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce as fold
from typing import Any
from weakref import ref

from dovetail_ad import has_tangent
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    algebra,
    lift_call,
    lift_program,
)
from dovetail_high.lowering import LowCarrier

from .derivative_calls import define_lift, program_call
from .flat_rules import Backward, Flags, FlatRules, Transposed, body_of, pick, spread


class Lifting:
    """The structures of lifted operands and results, and the numbers of their arrays."""

    def __init__(
        self, carrier: Any, in_avals: Sequence[Any], ins: Sequence[Any], out_avals: Sequence[Any],
        outs: Sequence[Any],
    ) -> None:  # fmt: skip
        self.carrier = carrier
        self.ins = ins
        self.outs = outs
        self.in_widths = [len(carrier.types(a, s)) for a, s in zip(in_avals, ins)]
        self.out_widths = [len(carrier.types(a, s)) for a, s in zip(out_avals, outs)]

    def values(self, arrays: Sequence[Any], depth: int = 0) -> list[Any]:
        """Lifted operands, from their arrays."""
        result: list[Any] = []
        at = 0
        for s, n in zip(self.ins, self.in_widths):
            result.append(self.carrier.value(arrays[at : at + n], s, depth))
            at += n
        return result

    def arrays(
        self, values: Sequence[Any], structures: Sequence[Any], depth: int = 0
    ) -> list[list[Any]]:
        """The arrays of lifted values at ``structures``, one list per value."""
        return [list(self.carrier.arrays(v, s, depth)) for v, s in zip(values, structures)]

    def single(self, value: Any, structure: Any) -> Any:
        """The one array of a lifted value, None for None."""
        return None if value is None else self.carrier.arrays(value, structure, 0)[0]

    def lift_single(self, array: Any, structure: Any) -> Any:
        """The lifted value of one array, None for None."""
        return None if array is None else self.carrier.value([array], structure, 0)

    def call(self, f: Callable[..., Any], values: Sequence[Any]) -> list[Any]:
        """``f`` on lifted values, where arguments and results may be None."""
        live = [v is not None for v in values]
        holes: list[bool] = []

        def on_live(*xs: Any) -> list[Any]:
            outs = f(*spread(xs, live))
            holes[:] = [y is not None for y in outs]
            return [y for y in outs if y is not None]

        return spread(lift_call(self.carrier, on_live, pick(values, live)), holes)


def lift_primitive(
    primitive: Primitive,
    rules: FlatRules,
    carrier: Any,
    args: Sequence[Any],
    params: dict[str, Any],
) -> list[Any]:
    """Apply a primitive to lifted operands, as a primitive with the lifted body and rules."""

    program: ClosedJaxpr = body_of(params)
    ins = tuple(carrier.structure(a, 0) for a in args)
    outs = lift_program(carrier, program, ins)[1]
    if rules.differentiates and carrier.has_instances:
        # A derivative rule may make results depend on more operands than the body does.
        top = fold(carrier.join_structures, ins)
        outs = tuple(
            carrier.join_structures(s, top) if has_tangent(a) else s
            for s, a in zip(outs, program.out_avals)
        )
    body = lift_program(carrier, program, ins, outs)[0]
    lifting = Lifting(carrier, program.in_avals, ins, program.out_avals, outs)
    key = "lifted", type(carrier), carrier.key, ins, outs
    lifted, call = rules.derived(
        program, key, lambda: program_call(lifted_rules(rules, lifting), body)
    )
    arrays = lifting.arrays(args, ins)
    results = lifted.bind(*[x for xs in arrays for x in xs], **call)
    result: list[Any] = []
    at = 0
    for s, n in zip(outs, lifting.out_widths):
        result.append(carrier.value(results[at : at + n], s, 0))
        at += n
    return result


def to_front(axis: Any, x: Any, dim: int | None) -> Any:
    """``x`` with its mapped axis first; broadcast if it has none."""
    if dim is None:
        return algebra().broadcast(x, axis.size, 0)
    return x if dim == 0 else algebra().move_axis(x, dim, 0)


def lifted_rules(rules: FlatRules, lifting: Lifting, batch: bool = True) -> FlatRules:
    """The rules of a lifted function, as a function from arrays to arrays.

    Rules of differentiation are lifted if a lifted tangent is the tangent of a lifted value, and
    the rule of batching if ``batch``. ``table_rules`` cannot be lifted, as only their tables know
    their meaning; they are kept when high values are lowered.
    """
    instances = lifting.carrier.has_instances
    return FlatRules(
        rules.name,
        rules.origin,
        tuple(w for w, n in zip(rules.fixed, lifting.in_widths) for _ in range(n)),
        jvp=_jvp(rules.jvp, lifting) if instances and rules.jvp else None,
        vjp=_vjp(rules.vjp, lifting) if instances and rules.vjp else None,
        transpose=_transpose(rules.transpose, lifting) if instances and rules.transpose else None,
        reduce=_reduce(rules.reduce, lifting) if rules.reduce else None,
        batch=_batch(rules.batch, lifting) if batch and rules.batch else None,
        table_rules=rules.table_rules if isinstance(lifting.carrier, LowCarrier) else {},
        closed=sum(lifting.in_widths[: rules.closed]),
        symbolic_zeros=rules.symbolic_zeros,
    )


def _jvp(jvp: Callable[..., Any], lifting: Lifting) -> Callable[..., Any]:
    def lifted(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        n = len(primals)
        values = [*map(lifting.lift_single, primals, lifting.ins)]
        values += map(lifting.lift_single, tangents, lifting.ins)

        def flat(*xs: Any) -> list[Any]:
            outs, result = jvp(xs[:n], xs[n:])
            return [*outs, *result]

        result = lifting.call(flat, values)
        m = len(lifting.outs)
        outs = [lifting.single(v, s) for v, s in zip(result[:m], lifting.outs)]
        return outs, [lifting.single(v, s) for v, s in zip(result[m:], lifting.outs)]

    return lifted


def _vjp(vjp: Backward, lifting: Lifting) -> Backward:
    carrier: Any = lifting.carrier

    def fwd(primals: Sequence[Any], mask: Flags) -> tuple[list[Any], list[Any], Any]:
        token: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            outs, residuals, inner = vjp.fwd(xs, mask)
            token[:] = [inner]
            return [*outs, *residuals]

        result = lifting.call(flat, lifting.values(primals))
        m = len(lifting.outs)
        outs = [lifting.single(v, s) for v, s in zip(result[:m], lifting.outs)]
        structures = tuple(carrier.structure(v, 0) for v in result[m:])
        residuals = [lifting.single(v, s) for v, s in zip(result[m:], structures)]
        return outs, residuals, (token[0], structures)

    def bwd(token: Any, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        inner, structures = token
        n = len(structures)
        values = [*map(lifting.lift_single, residuals, structures)]
        values += map(lifting.lift_single, cts, lifting.outs)
        result = lifting.call(lambda *xs: vjp.bwd(inner, xs[:n], xs[n:]), values)
        return _collected(lifting, result)

    return Backward(fwd, bwd, vjp.name, vjp.lean)


def _collected(lifting: Lifting, cts: Sequence[Any]) -> list[Any]:
    """Cotangents of operands at the operands' structures."""
    collect = lifting.carrier.collect
    return [
        None if ct is None else lifting.single(collect(ct, s), s) for ct, s in zip(cts, lifting.ins)
    ]


def _transpose(transpose: Transposed, lifting: Lifting) -> Transposed:
    def apply(operands: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        n = len(operands)
        values = [*map(lifting.lift_single, operands, lifting.ins)]
        values += map(lifting.lift_single, cts, lifting.outs)
        result = lifting.call(lambda *xs: transpose.apply(xs[:n], xs[n:]), values)
        return _collected(lifting, result)

    return Transposed(transpose.linear, apply)


def _reduce(reduce: Callable[[Flags], Any], lifting: Lifting) -> Callable[[Flags], Any]:
    def lifted(used: Flags) -> Callable[..., list[Any]]:
        """A result of the function is used if any of its arrays is."""
        rest = iter(used)
        each = [[next(rest) for _ in range(n)] for n in lifting.out_widths]
        wanted = tuple(any(flags) for flags in each)
        f = reduce(wanted)

        def run(*arrays: Any) -> list[Any]:
            result = lifting.call(lambda *xs: f(*xs), lifting.values(arrays))
            parts = lifting.arrays(result, pick(lifting.outs, wanted))
            flags = [fs for fs, w in zip(each, wanted) if w]
            return [x for xs, fs in zip(parts, flags) for x in pick(xs, fs)]

        return run

    return lifted


def _batch(batch: Callable[..., Any], lifting: Lifting) -> Callable[..., Any]:
    def lifted(axis: Any, operands: Sequence[Any], dims: Sequence[int | None]) -> Any:
        arrays: list[Any] = []
        inner: list[int | None] = []
        at = 0
        for n in lifting.in_widths:
            group, ds = operands[at : at + n], dims[at : at + n]
            mapped = any(d is not None for d in ds)
            arrays += [to_front(axis, x, d) if mapped else x for x, d in zip(group, ds)]
            inner.append(0 if mapped else None)
            at += n
        out_dims: list[Any] = []

        def run(*xs: Any) -> list[Any]:
            outs, result = batch(axis, xs, inner)
            out_dims[:] = result
            return outs

        result = lifting.call(run, lifting.values(arrays, 1))
        parts = lifting.arrays(result, lifting.outs, 1)
        return (
            [x for xs in parts for x in xs],
            [d for xs, d in zip(parts, out_dims) for _ in xs],
        )

    return lifted


define_lift(lift_primitive)


def lifting_rules(primitive: Primitive, rules: FlatRules) -> dict[str, Callable[..., Any]]:
    """The function that lifts the primitive by any carrier, and its rule of ``to_lo``."""

    this: Any = ref(primitive)

    def lift(carrier: Any, args: Sequence[Any], params: dict[str, Any]) -> list[Any]:
        return lift_primitive(this(), rules, carrier, args, params)

    def to_lo(*args: Any, **params: Any) -> list[Any]:
        return lift(LowCarrier(rules.name), args, params)

    if rules.reduce is None or primitive.regions is None:
        return {"lift": lift}
    # The dce rule takes high values even if the program has their arrays.
    return {"lift": lift, "to_lo": to_lo}
