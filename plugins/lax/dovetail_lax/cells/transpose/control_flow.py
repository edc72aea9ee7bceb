"""Transposing linear branches and loops: branches of transposes, and loops that run backwards."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NoReturn

from dovetail_ad import (
    LinearTrace,
    backward_pass,
    is_linear,
    transpose_rules,
    transposed_type,
)
from dovetail_core import (
    ClosedJaxpr,
    MissingRule,
    current_source,
    describe_source,
    eval_jaxpr,
    generation,
    get_trace,
    run_under,
    stage_closed,
)
from dovetail_core.algebra import add, zeros

from ...primitives.control_flow import cond_p, scan_p, while_p


@transpose_rules.register(cond_p)
def _cond_transpose(
    cotangents: Sequence[Any], index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]
) -> list[Any]:
    linear = tuple(is_linear(x) for x in operands)
    given = tuple(ct is not None for ct in cotangents)
    transposed = tuple(_transposed_branch(b, linear, given) for b in branches)
    values = [x for x, live in zip(operands, linear) if not live]
    cts = [ct for ct in cotangents if ct is not None]
    found = iter(cond_p.bind(index, *values, *cts, branches=transposed))
    return [None, *(next(found) if live else None for live in linear)]


def _transposed_branch(
    branch: ClosedJaxpr, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> ClosedJaxpr:
    """Takes the other operands and cotangents; returns a cotangent per linear operand."""
    key = ("transpose branch", linear, given, generation.value)
    found = branch.cache.get(key)
    if found is None:
        values = [a for a, live in zip(branch.in_avals, linear) if not live]
        cts = [transposed_type(a) for a, g in zip(branch.out_avals, given) if g]

        def transposed(*args: Any) -> list[Any]:
            rest = iter(args[len(values) :])
            outs = [next(rest) if g else None for g in given]
            return _full_cotangents(branch, linear, args[: len(values)], outs)

        found = branch.cache[key] = stage_closed(transposed, [*values, *cts], branch.jaxpr.name)
    return found


def _full_cotangents(
    program: ClosedJaxpr, linear: Sequence[bool], values: Sequence[Any], cts: Sequence[Any]
) -> list[Any]:
    """Cotangents of the linear inputs of a program, zeros included."""
    trace = LinearTrace(get_trace())
    known = iter(values)
    ins = [trace.unknown(a) if live else next(known) for a, live in zip(program.in_avals, linear)]
    outs = run_under(trace, eval_jaxpr, program.jaxpr, program.consts, *ins)
    unknown = [x for x, live in zip(ins, linear) if live]
    found = backward_pass(trace, unknown, outs, cts)
    return [zeros(transposed_type(x.aval)) if ct is None else ct for x, ct in zip(unknown, found)]


@transpose_rules.register(scan_p)
def _scan_transpose(cotangents: Sequence[Any], *args: Any, **params: Any) -> list[Any]:
    """Run the transposed body from the last step to the first.

    The carry of the transposed loop holds the cotangents of the constants, accumulated, and of the
    carry; cotangents of ``ys`` come in slice by slice and those of ``xs`` go out so.
    """
    program: ClosedJaxpr = params["program"]
    nc, nk = params["num_consts"], params["num_carry"]
    # Partial evaluation leaves only unknowns in the carry. One that starts with a known value
    # starts with a tangent that is zero, so its cotangent goes nowhere.
    given = [is_linear(x) for x in args]
    linear = (*given[:nc], *[True] * nk, *given[nc + nk :])
    given_ys = tuple(ct is not None for ct in cotangents[nk:])
    body = _transposed_body(program, nc, nk, linear, given_ys)
    consts = [x for x, live in zip(args[:nc], linear) if not live]
    const_cts = [zeros(transposed_type(x.aval)) for x in args[:nc] if is_linear(x)]
    carry_cts = [
        zeros(transposed_type(a)) if ct is None else ct
        for a, ct in zip(program.in_avals[nc : nc + nk], cotangents)
    ]
    xs = [x for x in args[nc + nk :] if not is_linear(x)]
    y_cts = [ct for ct in cotangents[nk:] if ct is not None]
    outs = scan_p.bind(
        *consts, *const_cts, *carry_cts, *y_cts, *xs, program=body, length=params["length"],
        reverse=not params["reverse"], unroll=params["unroll"], num_consts=len(consts),
        num_carry=len(const_cts) + nk,
    )  # fmt: skip
    found = iter(outs)
    cts = [next(found) if live else None for live in linear]
    return [ct if g else None for ct, g in zip(cts, given)]


def _transposed_body(
    program: ClosedJaxpr, nc: int, nk: int, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> ClosedJaxpr:
    key = ("transpose body", nc, nk, linear, given, generation.value)
    found = program.cache.get(key)
    if found is None:
        found = program.cache[key] = _make_transposed_body(program, nc, nk, linear, given)
    return found


def _make_transposed_body(
    program: ClosedJaxpr, nc: int, nk: int, linear: tuple[bool, ...], given: tuple[bool, ...]
) -> ClosedJaxpr:
    avals = program.in_avals
    consts = [a for a, live in zip(avals[:nc], linear) if not live]
    const_cts = [transposed_type(a) for a, live in zip(avals[:nc], linear) if live]
    carry_cts = [transposed_type(a) for a in avals[nc : nc + nk]]
    y_cts = [transposed_type(a) for a, g in zip(program.out_avals[nk:], given) if g]
    xs = [a for a, live in zip(avals[nc + nk :], linear[nc + nk :]) if not live]
    n1 = len(consts)
    n2 = n1 + len(const_cts)
    n3 = n2 + nk
    n4 = n3 + len(y_cts)

    def body(*args: Any) -> list[Any]:
        ys = iter(args[n3:n4])
        cts = [*args[n2:n3], *(next(ys) if g else None for g in given)]
        found = _full_cotangents(program, linear, [*args[:n1], *args[n4:]], cts)
        accumulated = [add(a, b) for a, b in zip(args[n1:n2], found)]
        return accumulated + found[len(const_cts) :]

    return stage_closed(body, [*consts, *const_cts, *carry_cts, *y_cts, *xs], program.jaxpr.name)


@transpose_rules.register(while_p)
def _while_transpose(cotangents: Sequence[Any], *args: Any, **params: Any) -> NoReturn:
    raise MissingRule(
        f"while_loop{describe_source(current_source())} cannot be differentiated in reverse mode: "
        "the number of its iterations, and so of the values to keep, is not known when it is "
        "compiled. Use scan, or fori_loop with bounds that are known while tracing; or keep some "
        "of the values, while_loop(..., checkpoint=dovetail.Online(snapshots=...)); or forward "
        "mode (jvp, jacfwd)."
    )
