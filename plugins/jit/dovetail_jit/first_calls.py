"""First calls of small eager programs: computed by NumPy where it gives the very bits.

A compilation takes milliseconds, and many operations of a program that is being set up run a few
times. So a program is compiled when it was called that often. Nobody must see a difference but in
time: not where somebody watches programs being compiled or run, forbids transfers or has rules of
his own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_backends import backend_of, evaluate_exactly, is_exact
from dovetail_core import (
    ClosedJaxpr,
    Option,
    config,
    lower_to_lo,
    lower_values,
    raise_values,
)
from dovetail_core.interpret.passes import passes_of, run_passes
from dovetail_core.registry.hooked import has_hooks
from dovetail_core.xla import fork, guards
from dovetail_core.xla.arrays import ArrayImpl, put
from dovetail_core.xla.client import Device

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
        8,
        "How often an eager operation on small arrays of the CPU is computed by NumPy, if it gives "
        "the same bits, before it is compiled.",
        check=as_count,
    )
)
_HOOKS = ("dovetail_compile", "dovetail_compile_options", "dovetail_lowered", "dovetail_compiled")


def first_call(
    program: ClosedJaxpr, name: str, operands: Sequence[Any], place: Any, committed: bool
) -> list[Any] | None:
    """The results of a program that was seldom called, or None: then it is to be compiled."""
    calls: list[None] = program.memo("first calls", list)
    if len(calls) >= interpret_first_calls.value:
        return None
    if place.__class__ is not Device or backend_of(place).platform != "cpu" or is_watched():
        return None
    program = run_passes("hi", program)
    high_types = program.out_avals
    if program.is_high:
        program = lower_to_lo(program)
        operands = lower_values(operands, f"asked for to call {name}")
    program = run_passes("ir", program)
    if not is_exact(program) or not all(map(_is_at_hand, operands)):
        return None
    refuse_execution(name)
    calls.append(None)
    found = evaluate_exactly(program, operands)
    if found is None:
        calls.extend([None] * interpret_first_calls.value)
        return None
    arrays = [put(x, aval, place, committed) for x, aval in zip(found, program.out_avals)]
    return raise_values(arrays, high_types)


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
        or bool(passes_of("module"))
        or any(map(has_hooks, _HOOKS))
    )
