"""The derivative of a reverse pass: the reverse pass of the doubled loop.

The doubled loop computes a loop and its derivative. Let a loop map (k, u) to A(k) u, linear in the
unknown u; its reverse pass is R(k, λ) = A(k)ᵀ λ. The doubled loop maps ((k, k'), (u, u')) to
(A u, A u' + (∂A k') u). With cotangents (λ', λ) its reverse pass gives
(Aᵀ λ' + (∂A k')ᵀ λ, Aᵀ λ): the derivative of R, and R.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_values
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    Var,
    generation,
    is_inexact,
    jaxpr_as_fun,
    stage_closed,
    typeof,
    zeros_like_aval,
)

from .description import Loop
from .primitives import is_high, reverse_p, reverse_type
from .steps import Flags, pick


def doubled(loop: Loop, unknown: Flags, dotted: Sequence[bool]) -> tuple[Loop, Flags, Flags]:
    """The doubled loop: a loop with its derivative, a tangent after each carry, operand and result.

    Unknown inputs have tangents, and the known ones marked in ``dotted``; a known carry also if
    the body gives it one. Returns the loop, ``unknown`` for its operands, and flags of the operands
    of the original loop that have a tangent.
    """
    flags = iter(dotted)
    lifted = [True if u else next(flags) for u in unknown]
    nc, nk = loop.num_consts, loop.num_carry
    while True:
        body, outs = _doubled_body(loop.body, tuple(lifted), nc, nk)
        joined = [a or b for a, b in zip(lifted[nc : nc + nk], outs)]
        if joined == lifted[nc : nc + nk]:
            break
        lifted[nc : nc + nk] = joined
    widths = [1 + t for t in lifted]
    counts = sum(widths[:nc]), sum(widths[nc : nc + nk])
    condition = None if loop.condition is None else _widened(loop.condition, lifted)
    flat = tuple(u for u, n in zip(unknown, widths) for _ in range(n))
    return loop.with_body(body, *counts, condition=condition), flat, tuple(lifted)


def _doubled_body(body: ClosedJaxpr, lifted: Flags, nc: int, nk: int) -> tuple[ClosedJaxpr, Flags]:
    """The body with tangents, and flags of the carries to which it gives one.

    A carry with a tangent among the inputs has one among the results, and so have all inexact
    ``ys``.
    """
    key = ("checkpointed doubled", lifted, nc, nk, generation.value)
    return body.memo(key, lambda: _double_body(body, lifted, nc, nk))


def _double_body(body: ClosedJaxpr, lifted: Flags, nc: int, nk: int) -> tuple[ClosedJaxpr, Flags]:
    types: list[Any] = []
    for aval, dot in zip(body.in_avals, lifted):
        types += [aval, aval.tangent_type()] if dot else [aval]
    have: list[bool] = []

    def step(*args: Any) -> list[Any]:
        values = iter(args)
        pairs = [(next(values), next(values) if d else None) for d in lifted]
        outs, dots = jvp_values(jaxpr_as_fun(body), [p for p, _ in pairs], [t for _, t in pairs])
        have[:] = [t is not None for t in dots[:nk]]
        wanted = [a or b for a, b in zip(have, lifted[nc : nc + nk])]
        flat: list[Any] = []
        for x, t, w in zip(outs, dots, wanted + dotted_outputs(body, nk)):
            flat.append(x)
            if w:
                flat.append(zeros_like_aval(typeof(x).tangent_type()) if t is None else t)
        return flat

    program = stage_closed(step, types, body.jaxpr.name)
    return program, tuple(have)


def dotted_outputs(body: ClosedJaxpr, nk: int) -> list[bool]:
    """Flags of the ``ys`` of a body that have a tangent."""
    return [is_inexact(a.dtype) for a in body.out_avals[nk:]]  # type: ignore[attr-defined]


def _widened(condition: ClosedJaxpr, lifted: Sequence[bool]) -> ClosedJaxpr:
    """The condition with tangents among its inputs, which it does not use."""
    jaxpr = condition.jaxpr
    invars: list[Var] = []
    for v, dot in zip(jaxpr.invars, lifted):
        invars += [v, Var(v.aval.tangent_type())] if dot else [v]
    return ClosedJaxpr(jaxpr.replace(invars=invars), condition.consts)


def operands_of(params: dict[str, Any], operands: Sequence[Any]) -> tuple[int, int, int]:
    """The indices, among the operands of a reverse pass, at which known values, cotangents and
    further operands begin."""
    loop, unknown = Loop.of(params), params["unknown"]
    start = 1 + loop.parts(unknown)[1].count(False) if params["cached"] else 0
    middle = start + unknown.count(False)
    count = sum(loop.parts(unknown)[1]) + sum(params["given"])
    return start, middle, middle + count


def run_second(operands: Sequence[Any], params: dict[str, Any]) -> list[Any]:
    """``checkpointed_second`` by a reverse pass; see the primitive."""
    loop, unknown, given = Loop.of(params), params["unknown"], params["given"]
    start, middle, end = operands_of(params, operands)
    dotted = iter(params["dotted"])
    dots = iter(operands[end:])
    known = [(x, next(dots) if next(dotted) else None) for x in operands[start:middle]]
    cts = [(x, next(dots) if next(dotted) else None) for x in operands[middle:end]]
    two, flat_unknown, lifted = doubled(loop, unknown, [t is not None for _, t in known])
    flat_known = _flat(known, pick(lifted, unknown, False))
    flat_cts: list[Any] = []
    flat_given: list[bool] = []
    live = sum(loop.parts(unknown)[1])
    for x, t in cts[:live]:
        flat_cts += [zeros_like_aval(typeof(x)) if t is None else t, x]
    some = iter(cts[live:])
    for g in given:
        x, t = next(some) if g else (None, None)
        flat_given += [t is not None, g]
        flat_cts += [v for v in (t, x) if v is not None]
    outs = reverse_p.bind(
        *flat_known, *flat_cts, **two.params, unknown=flat_unknown, given=tuple(flat_given),
        cached=False,
    )  # fmt: skip
    return outs[::2] if params["rest"] else [*outs[1::2], *outs[::2]]


def _flat(pairs: Sequence[tuple[Any, Any]], lifted: Sequence[bool]) -> list[Any]:
    result: list[Any] = []
    for (x, t), dot in zip(pairs, lifted, strict=True):
        result.append(x)
        if dot:
            result.append(zeros_like_aval(typeof(x).tangent_type()) if t is None else t)
    return result


# checkpointed_second(*operands, *tangents) -> (*results, *their tangents) of checkpointed_reverse,
# with tangents for the operands marked in ``dotted`` (all but what is kept); only the tangents if
# ``rest`` is true, and then it is linear in ``tangents``.

second_p = Primitive("checkpointed_second", multiple_results=True)
second_p.is_high = is_high


@second_p.def_abstract_eval
def _second_type(*avals: Any, rest: bool, **params: Any) -> list[Any]:
    types = reverse_type(**params)
    return types if rest else types + [a.tangent_type() for a in types]


@second_p.def_decomposition
def _second(*operands: Any, **params: Any) -> list[Any]:
    return run_second(operands, params)
