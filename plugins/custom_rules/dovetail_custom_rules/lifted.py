"""The rules of a function, lifted to those of its lifted form."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import InstanceCarrier, Primitive
from dovetail_core.interpret.lowering import LowCarrier

from .flat import Backward, Flags, FlatRules, Transposed, pick
from .lifting import Lifting, to_front


def lifted_row(rules: FlatRules, lifting: Lifting, batch: bool = True) -> Primitive:
    """The row with lifted rules; with the rule of batching only if ``batch`` says so."""
    from .row import program_row

    return program_row(lifted_rules(rules, lifting, batch))


def lifted_rules(rules: FlatRules, lifting: Lifting, batch: bool = True) -> FlatRules:
    """The rules of the function from arrays to arrays that a lifted function is.

    Rules of differentiation are lifted where a lifted tangent is the tangent of a lifted value;
    rules of ``table_rules`` are not, because their tables alone know what they mean; they stay where
    values are only taken apart.
    """
    instances = isinstance(lifting.carrier, InstanceCarrier)
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
    )


def _jvp(jvp: Callable[..., Any], lifting: Lifting) -> Callable[..., Any]:
    def lifted(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
        n = len(primals)
        values = [*map(lifting.lift_single, primals, lifting.ins)]
        values += map(lifting.lift_single, tangents, lifting.ins)

        def flat(*xs: Any) -> list[Any]:
            outs, found = jvp(xs[:n], xs[n:])
            return [*outs, *found]

        found = lifting.call(flat, values)
        m = len(lifting.outs)
        outs = [lifting.single(v, s) for v, s in zip(found[:m], lifting.outs)]
        return outs, [lifting.single(v, s) for v, s in zip(found[m:], lifting.outs)]

    return lifted


def _vjp(vjp: Backward, lifting: Lifting) -> Backward:
    carrier: Any = lifting.carrier

    def fwd(primals: Sequence[Any], mask: Flags) -> tuple[list[Any], list[Any], Any]:
        token: list[Any] = []

        def flat(*xs: Any) -> list[Any]:
            outs, residuals, inner = vjp.fwd(xs, mask)
            token[:] = [inner]
            return [*outs, *residuals]

        found = lifting.call(flat, lifting.values(primals))
        m = len(lifting.outs)
        outs = [lifting.single(v, s) for v, s in zip(found[:m], lifting.outs)]
        structures = tuple(carrier.structure(v, 0) for v in found[m:])
        residuals = [lifting.single(v, s) for v, s in zip(found[m:], structures)]
        return outs, residuals, (token[0], structures)

    def bwd(token: Any, residuals: Sequence[Any], cts: Sequence[Any]) -> list[Any]:
        inner, structures = token
        n = len(structures)
        values = [*map(lifting.lift_single, residuals, structures)]
        values += map(lifting.lift_single, cts, lifting.outs)
        found = lifting.call(lambda *xs: vjp.bwd(inner, xs[:n], xs[n:]), values)
        return _collected(lifting, found)

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
        found = lifting.call(lambda *xs: transpose.apply(xs[:n], xs[n:]), values)
        return _collected(lifting, found)

    return Transposed(transpose.linear, apply)


def _reduce(reduce: Callable[[Flags], Any], lifting: Lifting) -> Callable[[Flags], Any]:
    def lifted(used: Flags) -> Callable[..., list[Any]]:
        """A result of the function is used if any of its arrays is."""
        rest = iter(used)
        each = [[next(rest) for _ in range(n)] for n in lifting.out_widths]
        wanted = tuple(any(flags) for flags in each)
        f = reduce(wanted)

        def run(*arrays: Any) -> list[Any]:
            found = lifting.call(lambda *xs: f(*xs), lifting.values(arrays))
            parts = lifting.arrays(found, pick(lifting.outs, wanted))
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
            outs, found = batch(axis, xs, inner)
            out_dims[:] = found
            return outs

        found = lifting.call(run, lifting.values(arrays, 1))
        parts = lifting.arrays(found, lifting.outs, 1)
        return (
            [x for xs in parts for x in xs],
            [d for xs, d in zip(parts, out_dims) for _ in xs],
        )

    return lifted
