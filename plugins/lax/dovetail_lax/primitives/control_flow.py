"""Primitives that hold programs: ``cond`` (any number of branches), ``while`` and ``scan``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    CONTROL,
    ClosedJaxpr,
    Effect,
    Form,
    InputEffect,
    Primitive,
    Region,
    with_leading,
)

Programs = Sequence[ClosedJaxpr]


def _effects(form: Form) -> set[Effect]:
    """Effects of the sub-programs; those on an input name the operand that feeds it."""
    found: set[Effect] = set()
    for region in form.regions:
        for e in region.program.effects:
            moved = isinstance(e, InputEffect)
            found.add(e.moved(region.operands[e.input_index]) if moved else e)  # type: ignore
    return found


# cond(index, *operands): the branch number ``index`` on the operands.

cond_p = Primitive("cond", multiple_results=True)


@cond_p.def_effectful_abstract_eval
def _cond_type(index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> Any:
    return branches[0].out_avals, _effects(_cond_form({"branches": branches}))


@cond_p.def_form
def _cond_form(params: dict[str, Any]) -> Form:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    operands = tuple(range(1, 1 + len(branches[0].in_avals)))
    results = tuple(range(len(branches[0].out_avals)))
    return Form(
        tuple(Region(b, operands, results) for b in branches),
        lambda programs, widths, out_widths: {"branches": tuple(programs)},
        control=0,
    )


# while(*consts, *carry): both programs take consts and carry.

while_p = Primitive("while", multiple_results=True)


@while_p.def_effectful_abstract_eval
def _while_type(*operands: Any, condition: ClosedJaxpr, body: ClosedJaxpr, num_consts: int) -> Any:
    form = _while_form({"condition": condition, "body": body, "num_consts": num_consts})
    return body.out_avals, _effects(form)


@while_p.def_form
def _while_form(params: dict[str, Any]) -> Form:
    body: ClosedJaxpr = params["body"]
    n: int = params["num_consts"]
    operands = tuple(range(len(body.in_avals)))
    carry = range(len(body.out_avals))

    def rebuild(programs: Programs, widths: Sequence[int], outs: Sequence[int]) -> dict[str, Any]:
        return {"condition": programs[0], "body": programs[1], "num_consts": sum(widths[:n])}

    return Form(
        (Region(params["condition"], operands, (CONTROL,)), Region(body, operands, tuple(carry))),
        rebuild,
        loop=tuple((i, n + i) for i in carry),
    )


# scan(*consts, *carry, *xs) -> (*carry, *ys)

scan_p = Primitive("scan", multiple_results=True)


@scan_p.def_effectful_abstract_eval
def _scan_type(*operands: Any, **params: Any) -> Any:
    program: ClosedJaxpr = params["program"]
    n: int = params["num_carry"]
    outs: list[Any] = list(program.out_avals)
    ys = [with_leading(a, params["length"]) for a in outs[n:]]
    return outs[:n] + ys, _effects(_scan_form(params))


@scan_p.def_form
def _scan_form(params: dict[str, Any]) -> Form:
    program: ClosedJaxpr = params["program"]
    nc: int = params["num_consts"]
    nk: int = params["num_carry"]
    ins, outs = range(len(program.in_avals)), range(len(program.out_avals))

    def rebuild(programs: Programs, widths: Sequence[int], out_w: Sequence[int]) -> dict[str, Any]:
        counts = {"num_consts": sum(widths[:nc]), "num_carry": sum(widths[nc : nc + nk])}
        return {**params, "program": programs[0], **counts}

    return Form(
        (Region(program, tuple(ins), tuple(outs)),),
        rebuild,
        loop=tuple((i, nc + i) for i in range(nk)),
        sliced=frozenset(ins[nc + nk :]),
        stacked=frozenset(outs[nk:]),
        extend=lambda longer: {**params, "program": longer},
    )
