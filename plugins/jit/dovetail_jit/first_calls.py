"""First calls of small eager programs: computed by NumPy where it gives the very bits.

A compilation takes milliseconds, and many operations of a program that is being set up run a few
times. So a program is compiled when it was called that often, by another thread, and NumPy goes on
until that is done: no call waits. Nobody must see a difference but in time: not where somebody
watches programs being compiled or run, forbids transfers or has rules of his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from dovetail_backends import backend_of, evaluate_exactly, is_exact
from dovetail_core import (
    ClosedJaxpr,
    Option,
    config,
    lower_to_lo,
    lower_values,
    raise_values,
)
from dovetail_core.interpret.passes import passes_for, run_passes
from dovetail_core.registry.hooked import has_hooks
from dovetail_xla import fork, guards
from dovetail_xla.arrays import ArrayImpl, put
from dovetail_xla.client import Device

from .meanwhile import Compilation, compile_meanwhile
from .restrictions import refuse_execution
from .timing import timing
from .watching import watching


def as_count(value: Any) -> int:
    """A number of calls.

    Raises:
        ValueError: it is negative, or no number.
    """
    n = int(value)
    if n < 0:
        raise ValueError(f"expected a number of calls, at least 0, got {n}")
    return n


interpret_first_calls = config.add(
    Option(
        "interpret_first_calls",
        4,
        "How often an eager operation on small arrays of the CPU is computed by NumPy, if it gives "
        "the same bits, before another thread compiles it; calls go on so until it has.",
        check=as_count,
    )
)
PLATFORM = "cpu"
"""Whose compiler NumPy stands in for."""
PATIENCE = 64
"""So many calls more, and who calls compiles the program at once: others may be compiled first."""
_HOOKS = ("dovetail_compile", "dovetail_compile_options", "dovetail_lowered", "dovetail_compiled")


class _Calls:
    """How often NumPy has computed a program; its compilation, once that has begun."""

    __slots__ = ("compilation", "count", "gave_up")

    def __init__(self) -> None:
        self.count = 0
        self.compilation: Compilation | None = None
        self.gave_up = False

    def are_over(self, often: int) -> bool:
        if self.compilation is not None:
            return self.compilation.is_over or self.count > often + PATIENCE
        return self.gave_up


class _Prepared(NamedTuple):
    """A program as NumPy computes it."""

    low: ClosedJaxpr
    high_types: Sequence[Any]
    is_high: bool


def first_call(
    program: ClosedJaxpr, name: str, operands: Sequence[Any], place: Any, committed: bool,
    profile: str,
) -> list[Any] | None:  # fmt: skip
    """The results of a program that was seldom called, or None: then it is to be compiled."""
    often: int = interpret_first_calls.value
    calls: _Calls = program.memo("first calls", _Calls)
    if not often or calls.are_over(often):
        return None
    if place.__class__ is not Device or backend_of(place).platform != PLATFORM or is_watched():
        return None
    prepared = program.memo("as NumPy computes it", partial(_prepare, program))
    if prepared is None:
        return None
    if prepared.is_high:
        operands = lower_values(operands, f"asked for to call {name}")
    if not all(map(_is_at_hand, operands)):
        return None
    refuse_execution(name)
    found = evaluate_exactly(prepared.low, operands)
    if found is None:
        calls.gave_up = True
        return None
    if calls.count == often:
        calls.compilation = compile_meanwhile(program, name, place, profile)
    calls.count += 1
    arrays = [put(x, aval, place, committed) for x, aval in zip(found, prepared.low.out_avals)]
    return raise_values(arrays, prepared.high_types) if prepared.is_high else arrays


def _prepare(program: ClosedJaxpr) -> _Prepared | None:
    """A program after the passes that run where it is compiled, if NumPy computes it to the last
    bit."""
    before = run_passes("hi", program, PLATFORM)
    low = run_passes("ir", lower_to_lo(before) if before.is_high else before, PLATFORM)
    return _Prepared(low, before.out_avals, before.is_high) if is_exact(low) else None


def _is_at_hand(x: Any) -> bool:
    """Whether nothing has to be waited for to read a value."""
    return x.__class__ is not ArrayImpl or (not x.is_deleted() and x.is_ready())


def is_watched() -> bool:
    """Whether somebody would see that a program is not compiled, or not run by the runtime."""
    return (
        watching()
        or timing.hear is not None
        or guards.watches_transfers()
        or fork.forked()
        or bool(passes_for("module", PLATFORM))
        or has_hooks(*_HOOKS)
    )
