"""Primitives that hold programs: ``cond`` (any number of branches) and ``scan``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    manual_axis_types,
    with_leading,
)

from ._effects import effects_of
from .traits import describe

Programs = Sequence[ClosedJaxpr]


def _count(operands: Sequence[Operand], kind: Kind) -> int:
    return [x.kind for x in operands].count(kind)


# cond(index, *operands): the branch number ``index`` on the operands. There must be one of that
# number, which the functions that bind it see to.

cond_p = Primitive("cond", multiple_results=True)


@cond_p.def_effectful_abstract_eval
def _cond_type(index: Any, *operands: Any, branches: tuple[ClosedJaxpr, ...]) -> Any:
    # A branch that returns a constant may know that of a result which varies in another one.
    all_outs = [b.out_avals for b in branches]
    outs = [
        a[0].with_vma(manual_axis_types.NO_AXES.union(*[x.vma for x in a])) for a in zip(*all_outs)
    ]
    return outs, effects_of(cond_p, {"branches": branches}, *branches)


@cond_p.def_regions
def _cond_regions(params: dict[str, Any]) -> RegionInterface:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    operands = tuple(range(1, 1 + len(branches[0].in_avals)))
    results = tuple(range(len(branches[0].out_avals)))
    return RegionInterface(
        tuple(Region(b, operands, results) for b in branches),
        (Kind.CONTROL, *[Kind.CONSTANT] * len(operands)),
        (Kind.PLAIN,) * len(results),
        lambda programs, _: {"branches": tuple(programs)},
    )


# scan(*consts, *carry, *xs) -> (*carry, *ys)

scan_p = Primitive("scan", multiple_results=True)


@scan_p.def_effectful_abstract_eval
def _scan_type(*operands: Any, **params: Any) -> Any:
    program: ClosedJaxpr = params["jaxpr"]
    n: int = params["num_carry"]
    outs: list[Any] = list(program.out_avals)
    ys = [with_leading(a, params["length"]) for a in outs[n:]]
    return outs[:n] + ys, effects_of(scan_p, params, program)


@scan_p.def_regions
def _scan_regions(params: dict[str, Any]) -> RegionInterface:
    program: ClosedJaxpr = params["jaxpr"]
    nc: int = params["num_consts"]
    nk: int = params["num_carry"]
    ins, outs = len(program.in_avals), len(program.out_avals)

    def rebuild(programs: Programs, operands: Sequence[Operand]) -> dict[str, Any]:
        consts, carry = _count(operands, Kind.CONSTANT), _count(operands, Kind.CARRIED)
        return {**params, "jaxpr": programs[0], "num_consts": consts, "num_carry": carry}

    return RegionInterface(
        (Region(program, tuple(range(ins)), tuple(range(outs))),),
        (*[Kind.CONSTANT] * nc, *[Kind.CARRIED] * nk, *[Kind.SLICED] * (ins - nc - nk)),
        (*[Kind.CARRIED] * nk, *[Kind.STACKED] * (outs - nk)),
        rebuild,
        runs="in turn",
        length=params["length"],
        backward=lambda *new: {**rebuild(*new), "reverse": not params["reverse"]},
    )


describe(__name__)
