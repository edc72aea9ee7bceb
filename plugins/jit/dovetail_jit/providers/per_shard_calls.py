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

from dovetail_core import ClosedJaxpr, Literal, consts_to_inputs, eval_jaxpr, passes, stage
from dovetail_xla.arrays import ArrayImpl, assemble

from ..call.executable import Executable, Runnable
from ..call.observers import watching
from ..call.providers import KNOWN_CALLS, Make
from ..call.request import Request
from ..eager import flat_call
from ..options import by_parts_after
from .numpy_fallback import PLATFORM, is_watched

LARGEST_SHARD, LARGEST = 512, 16384
"""The largest number of elements of a shard, and of an array: the runtime computes several larger
shards at a time. Shards are compiled with the profile of the program, so that bits are the same."""
_PYTHON = (bool, int, float, complex)


def get(request: Request, make: Make) -> Runnable | None:
    """Wrap an executable so that its calls are counted, and then made part by part, if parts are
    computed as the whole is."""
    if is_watched():
        return None
    runnable, program = make(), request.program
    assert program is not None
    ex = runnable.compiled
    if ex is None or not (_is_small(ex) and program.memo("divides", lambda: _divides(program))):
        return runnable
    return PerShardCalls(request, program, ex)


class _Plan:
    """The calls with operands of one sharding.

    Attributes:
        call: is called with the operands' parts on each device. calls: how often it was called as
            a whole.
    """

    __slots__ = ("call", "calls")

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call, self.calls = call, 0


class PerShardCalls(Runnable):
    """Runs a program as a whole, and part by part where that has happened often enough."""

    compiled: Executable
    is_provisional = False

    def __init__(self, request: Request, program: ClosedJaxpr, compiled: Executable) -> None:
        self._name, self._profile = request.name, request.key.profile
        self._program, self.compiled = program, compiled
        self._plans: dict[Any, _Plan] = {}
        self._results = list(zip(compiled.result_types, compiled.outs))

    def run_known(self, operands: Sequence[Any]) -> list[Any] | None:
        """The results of the parts; None where a call with these operands is made as a whole."""
        plan = self._plans.get(_sharding_of(operands))
        if plan is None or not 0 < by_parts_after.value <= plan.calls or watching():
            return None
        columns: list[Iterable[Any]] = [
            x._arrays if x.__class__ is ArrayImpl else repeat(x) for x in operands
        ]
        rows = [plan.call(*row) for row in zip(*columns)]
        return [assemble(*result, parts) for result, parts in zip(self._results, zip(*rows))]

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any] | None:
        """The results of the whole; the call is counted, if it can be made part by part."""
        sharding = _sharding_of(leaves)
        if self._counts(leaves, sharding):
            if (plan := self._plans.get(sharding)) is None:
                plan = self._plans[sharding] = _Plan(self._on_parts())
                known: list[Any] = self._program.memo(KNOWN_CALLS, list)
                if self not in known:
                    known.append(self)
            plan.calls += 1
        return self.compiled.run(leaves, committed)

    def repeat(
        self, out_tree: Any, committed: bool, operands: Sequence[Any], consts: Sequence[Any] = ()
    ) -> tuple[Any, bool]:
        """C++ repeats no calls that are counted."""
        if not consts and self._plans.get(_sharding_of(operands)) is not None:
            return None, True
        return self.compiled.repeat(out_tree, committed, operands, consts)

    def _counts(self, operands: Sequence[Any], sharding: Any) -> bool:
        """Tell whether calls with such operands are counted."""
        if sharding is None or not by_parts_after.value or is_watched():
            return False
        return self._fits(operands, sharding)

    def _fits(self, operands: Sequence[Any], sharding: Any) -> bool:
        ex = self.compiled
        arrays = [x for x in operands if x.__class__ is ArrayImpl]
        shape = arrays[0].shape
        devices = sharding._internal_device_list
        return (
            len(devices) > 1
            and devices.is_fully_addressable
            and prod(shape) <= LARGEST
            and prod(sharding.shard_shape(shape)) <= LARGEST_SHARD
            and sharding.memory_kind in (None, ex.device.default_memory().kind)
            and all(x.shape == shape if x.__class__ is ArrayImpl else x.__class__ in _PYTHON
                    for x in operands)
            and all(a.shape == shape for a in ex.result_types)
            and all(sharding.is_equivalent_to(s, len(shape)) for s in ex.outs)
            and not ex.needs_relayout(operands)
            and not ex.needs_resharding(operands)
        )  # fmt: skip

    def _on_parts(self) -> Callable[..., Any]:
        """A compiled callable for the parts of operands."""
        jaxpr = self._program.jaxpr

        def for_types(*avals: Any) -> ClosedJaxpr:
            def run(*parts: Any) -> list[Any]:
                return eval_jaxpr(jaxpr, [], *parts)

            return consts_to_inputs(stage(run, avals)[0])

        return flat_call(self._name, for_types, self._profile)


def _sharding_of(operands: Sequence[Any]) -> Any:
    """The sharding of the first array among the operands; None where others are divided in another
    way, or one is not where it has to be."""
    result: Any = None
    for x in operands:
        if x.__class__ is ArrayImpl:
            if result is None:
                result = x._sharding
            elif x._sharding is not result and not x._sharding.is_equivalent_to(result, x.ndim):
                return None
            if not x._committed or x.is_deleted():
                return None
    return result


def _is_small(ex: Executable) -> bool:
    return ex.device.platform == PLATFORM and all(prod(a.shape) <= LARGEST for a in ex.result_types)


def _divides(program: ClosedJaxpr) -> bool:
    """Tell whether parts are to be computed by the equations of the whole, which no pass
    changes."""
    return _is_elementwise(program) and all(
        passes.run_passes(stage, program, PLATFORM, divided) is program
        for stage in ("hi", "ir")
        for divided in (False, True)
    )


def _is_elementwise(program: ClosedJaxpr) -> bool:
    """Tell whether its equations say the same of parts of values as of the whole."""
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
