"""Primitives with sub-programs (call, cond, while, scan), evaluated by Python loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dovetail_core import (
    CONTROL,
    AbstractValue,
    ClosedJaxpr,
    Kind,
    Operand,
    Primitive,
    Region,
    RegionInterface,
    ShapedArray,
    call_interface,
    def_impl,
    jaxpr_as_fun,
    stage_closed,
)

from .samples import Sample
from .toy import add_p, less_p, mul_p, neg_p, sin_p

call_p = Primitive("toy.call", multiple_results=True)
cond_p = Primitive("toy.cond", multiple_results=True)
while_p = Primitive("toy.while", multiple_results=True)
scan_p = Primitive("toy.scan", multiple_results=True)


@call_p.def_abstract_eval
def _call_type(*types: AbstractValue, program: ClosedJaxpr) -> list[AbstractValue]:
    return program.out_avals


@call_p.def_regions
def _call_form(params: dict[str, Any]) -> RegionInterface:
    return call_interface(params["program"], lambda program, _: {"program": program})


@def_impl(call_p)
def _call(*args: Any, program: ClosedJaxpr) -> list[Any]:
    return jaxpr_as_fun(program)(*args)


@cond_p.def_abstract_eval
def _cond_type(
    index: AbstractValue, *types: AbstractValue, branches: tuple[ClosedJaxpr, ...]
) -> list[AbstractValue]:
    if any(b.out_avals != branches[0].out_avals for b in branches):
        shown = " and ".join(str([a.str_short() for a in b.out_avals]) for b in branches)
        raise TypeError(f"the branches of toy.cond return different types: {shown}")
    return branches[0].out_avals


@cond_p.def_regions
def _cond_form(params: dict[str, Any]) -> RegionInterface:
    branches: tuple[ClosedJaxpr, ...] = params["branches"]
    ins = tuple(range(1, 1 + len(branches[0].in_avals)))
    outs = tuple(range(len(branches[0].out_avals)))
    return RegionInterface(
        tuple(Region(b, ins, outs) for b in branches),
        (Kind.CONTROL, *[Kind.CONSTANT] * len(ins)),
        (Kind.PLAIN,) * len(outs),
        lambda programs, _: {"branches": tuple(programs)},
    )


@def_impl(cond_p)
def _cond(index: Any, *args: Any, branches: tuple[ClosedJaxpr, ...]) -> list[Any]:
    return jaxpr_as_fun(branches[int(index)])(*args)


@while_p.def_abstract_eval
def _while_type(*types: AbstractValue, cond: ClosedJaxpr, body: ClosedJaxpr) -> Any:
    if list(types) != body.in_avals or body.in_avals != body.out_avals:
        raise TypeError(f"the carry of toy.while changes: {body.in_avals} to {body.out_avals}")
    return body.out_avals


@while_p.def_regions
def _while_form(params: dict[str, Any]) -> RegionInterface:
    cond, body = params["cond"], params["body"]
    carry = tuple(range(len(body.in_avals)))
    return RegionInterface(
        (Region(cond, carry, (CONTROL,)), Region(body, carry, carry)),
        (Kind.CARRIED,) * len(carry),
        (Kind.CARRIED,) * len(carry),
        lambda programs, _: {"cond": programs[0], "body": programs[1]},
        runs="in turn",
    )


@def_impl(while_p)
def _while(*args: Any, cond: ClosedJaxpr, body: ClosedJaxpr) -> list[Any]:
    carry = list(args)
    while jaxpr_as_fun(cond)(*carry)[0]:
        carry = jaxpr_as_fun(body)(*carry)
    return carry


@scan_p.def_abstract_eval
def _scan_type(
    *types: AbstractValue, program: ClosedJaxpr, consts: int, carry: int, length: int
) -> list[AbstractValue]:
    ins, outs = program.in_avals[consts : consts + carry], program.out_avals[:carry]
    if ins != outs or list(types[: consts + carry]) != program.in_avals[: consts + carry]:
        raise TypeError(f"the carry of toy.scan changes: {ins} to {outs}")
    stacked: list[Any] = program.out_avals[carry:]
    return [*outs, *(a.update(shape=(length, *a.shape)) for a in stacked)]


@scan_p.def_regions
def _scan_form(params: dict[str, Any]) -> RegionInterface:
    """Operands are constants, carry, sliced arrays; results are carry, stacked arrays."""
    program: ClosedJaxpr = params["program"]
    consts, carry, n = params["consts"], params["carry"], len(program.in_avals)

    def rebuild(programs: Sequence[ClosedJaxpr], operands: Sequence[Operand]) -> dict[str, Any]:
        kinds = [x.kind for x in operands]
        return {
            "program": programs[0],
            "consts": kinds.count(Kind.CONSTANT),
            "carry": kinds.count(Kind.CARRIED),
            "length": params["length"],
        }

    slices, results = n - consts - carry, len(program.out_avals)
    return RegionInterface(
        (Region(program, tuple(range(n)), tuple(range(results))),),
        (*[Kind.CONSTANT] * consts, *[Kind.CARRIED] * carry, *[Kind.SLICED] * slices),
        (*[Kind.CARRIED] * carry, *[Kind.STACKED] * (results - carry)),
        rebuild,
        runs="in turn",
        length=params["length"],
    )


@def_impl(scan_p)
def _scan(*args: Any, program: ClosedJaxpr, consts: int, carry: int, length: int) -> list[Any]:
    state = list(args[consts : consts + carry])
    stacked: list[list[Any]] = []
    for i in range(length):
        out = jaxpr_as_fun(program)(
            *args[:consts], *state, *(np.asarray(x)[i] for x in args[consts + carry :])
        )
        state = out[:carry]
        stacked.append(out[carry:])
    avals: list[Any] = program.out_avals[carry:]
    columns = [[row[i] for row in stacked] for i in range(len(avals))]
    return [
        *state,
        *(np.array(c, a.dtype).reshape(length, *a.shape) for c, a in zip(columns, avals)),
    ]


def _double(x: Any) -> list[Any]:
    return [mul_p.bind(x, np.float32(2.0))]


def _negate(x: Any) -> list[Any]:
    return [neg_p.bind(x)]


def _small(x: Any) -> list[Any]:
    return [less_p.bind(x, np.float32(3.0))]


def _step(k: Any, carry: Any, x: Any) -> list[Any]:
    return [add_p.bind(carry, mul_p.bind(k, x)), sin_p.bind(carry)]


def samples() -> Iterator[Sample]:
    """Inputs of the primitives above."""
    f32 = ShapedArray((), np.float32)
    x = np.float32(0.5)
    double = stage_closed(_double, [f32], "double")
    negate = stage_closed(_negate, [f32], "negate")
    small = stage_closed(_small, [f32], "small")
    step = stage_closed(_step, [f32] * 3, "step")
    yield Sample(call_p, (x,), {"program": double})
    yield Sample(cond_p, (np.int32(1), x), {"branches": (double, negate)})
    yield Sample(cond_p, (np.int32(0), x), {"branches": (double, negate)})
    yield Sample(while_p, (x,), {"cond": small, "body": double})
    scan = {"program": step, "consts": 1, "carry": 1}
    xs = np.array([1.0, -2.0, 0.25], np.float32)
    yield Sample(scan_p, (np.float32(2.0), x, xs), {**scan, "length": 3})
    yield Sample(scan_p, (x, x, xs[:0]), {**scan, "length": 0}, tags={"empty"})
