"""Small elementwise programs on several devices of the CPU: a call for each device's part.

A program of several devices wakes a thread for each, which takes longer than all that they compute.
Calls for the parts, one after another in the thread that calls, take a third of that and give the
same bits; but each device has an executable of its own, so that this is for programs that are
called again and again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from math import prod
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Literal,
    Option,
    config,
    consts_to_inputs,
    eval_jaxpr,
    stage,
)
from dovetail_core.interpret.passes import run_passes
from dovetail_xla.arrays import ArrayImpl, assemble

from .executables import Executable
from .first_calls import PLATFORM, as_count, is_watched
from .watching import watching

by_parts_after = config.add(
    Option(
        "by_parts_after",
        100,
        "After how many calls an eager operation on small arrays of several devices of the CPU is "
        "called for each device's part by itself; 0: never.",
        check=as_count,
    )
)
LARGEST, WHOLE = 512, 16384
"""Of how many elements a part, and all parts, are at most: several larger parts are computed at a
time. Parts are compiled by the whole's profile, so that bits are the same."""
_PYTHON = (bool, int, float, complex)


class Plan:
    """How a program on arrays of one sharding is called by parts.

    Attributes:
        results: their types and shardings. calls: how often it was called as a whole.
    """

    __slots__ = ("call", "calls", "results")

    def __init__(self, call: Callable[..., Any], ex: Executable) -> None:
        self.call, self.calls = call, 0
        self.results = list(zip(ex.result_types, ex.outs))


def call_by_parts(program: ClosedJaxpr, operands: Sequence[Any]) -> list[Any] | None:
    """The results of a program that was called often enough where it is now, else None."""
    plans: dict[Any, Plan] | None = program.known("by parts")
    if not plans:
        return None
    plan = plans.get(_sharding_of(operands))
    if plan is None or not 0 < by_parts_after.value <= plan.calls or watching():
        return None
    columns: list[Iterable[Any]] = [
        x._arrays if x.__class__ is ArrayImpl else repeat(x) for x in operands
    ]
    rows = [plan.call(*row) for row in zip(*columns)]
    return [assemble(*result, parts) for result, parts in zip(plan.results, zip(*rows))]


def note_whole(
    program: ClosedJaxpr, ex: Executable, operands: Sequence[Any], make: Callable[..., Any]
) -> bool:
    """Count a call as a whole; whether calls are counted, so that C++ must not repeat them.

    Args:
        make: makes of a function from types to programs what calls these, for a list of results.
    """
    partition = ex.partition
    if partition is None or not by_parts_after.value or is_watched():
        return False
    sharding = _sharding_of(operands)
    if sharding is None or not _fits(program, ex, operands, sharding):
        return False
    plans = program.memo("by parts", dict)
    plan = plans.get(sharding)
    if plan is None:
        plan = plans[sharding] = Plan(make(_on_parts(program)), ex)
    plan.calls += 1
    return True


def _sharding_of(operands: Sequence[Any]) -> Any:
    """The sharding of the first array among the operands; None where others are divided in another
    way, or one is not where it has to be."""
    found: Any = None
    for x in operands:
        if x.__class__ is ArrayImpl:
            if found is None:
                found = x._sharding
            elif x._sharding is not found and not x._sharding.is_equivalent_to(found, x.ndim):
                return None
            if not x._committed or x.is_deleted():
                return None
    return found


def _fits(program: ClosedJaxpr, ex: Executable, operands: Sequence[Any], sharding: Any) -> bool:
    arrays = [x for x in operands if x.__class__ is ArrayImpl]
    shape = arrays[0].shape
    devices = sharding._internal_device_list
    return (
        len(devices) > 1
        and devices.is_fully_addressable
        and ex.device.platform == PLATFORM
        and prod(shape) <= WHOLE
        and prod(sharding.shard_shape(shape)) <= LARGEST
        and sharding.memory_kind in (None, ex.device.default_memory().kind)
        and all(x.shape == shape if x.__class__ is ArrayImpl else x.__class__ in _PYTHON
                for x in operands)
        and all(a.shape == shape for a in ex.result_types)
        and all(sharding.is_equivalent_to(s, len(shape)) for s in ex.outs)
        and not ex.lays_out(operands)
        and not ex.moves(operands)
        and program.memo("divisible", lambda: _is_divisible(program))
    )  # fmt: skip


def _is_divisible(program: ClosedJaxpr) -> bool:
    """Whether parts are to be computed by the equations of the whole, which no pass changes."""
    return _is_elementwise(program) and all(
        run_passes(stage, program, PLATFORM, divided) is program
        for stage in ("hi", "ir")
        for divided in (False, True)
    )


def _is_elementwise(program: ClosedJaxpr) -> bool:
    """Whether its equations say the same of parts of values as of the whole."""
    return (
        not (program.is_high or program.effects or program.consts)
        and bool(program.eqns)
        and all(
            e.primitive.traits.elementwise and e.primitive.regions is None for e in program.eqns
        )
        and not any(
            isinstance(x, Literal) and getattr(x.aval, "shape", ()) != ()
            for e in program.eqns
            for x in e.invars
        )
    )


def _on_parts(program: ClosedJaxpr) -> Callable[..., ClosedJaxpr]:
    def for_types(*avals: Any) -> ClosedJaxpr:
        def run(*parts: Any) -> list[Any]:
            return eval_jaxpr(program.jaxpr, [], *parts)

        return consts_to_inputs(stage(run, avals)[0])

    return for_types
