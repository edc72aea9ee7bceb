"""Small eager programs that NumPy computes until they are compiled, if it gives the same bits.

A compilation takes milliseconds, and many operations of a program that is being set up run a few
times. So a program is compiled when it was called that often, by another thread, and NumPy goes on
until that is done: no call waits. The only difference is in time: it is not done if programs are
watched as they are compiled or run, if transfers are forbidden, or if a plugin has its own rules.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from dovetail_backends import evaluate_exactly, is_exact
from dovetail_core import ClosedJaxpr, lower_to_lo, lower_values, passes, raise_values
from dovetail_hooks import has_hooks
from dovetail_xla import fork, guards
from dovetail_xla.arrays import ArrayImpl, put

from ..call.executable import Runnable
from ..call.observers import timing, watching
from ..call.providers import Make, provide
from ..call.request import Request
from ..options import interpret_first_calls, no_execution, refuse_execution
from .background_compile import Compilation, compile_in_background

PLATFORM = "cpu"
"""The platform whose compiler NumPy replaces."""
PATIENCE = 64
"""After so many further calls the caller compiles the program: others may be compiled before it."""
_HOOKS = ("dovetail_compile", "dovetail_compile_options", "dovetail_lowered", "dovetail_compiled")


def get(request: Request, make: Make) -> Runnable | None:
    """NumPy instead of the compiler, if it computes the program to the last bit."""
    if request.platform != PLATFORM or is_watched():
        return None
    program = request.program
    assert program is not None
    prepared = program.memo("as NumPy computes it", lambda: _prepare(program))
    return None if prepared is None else NumpyFallback(request, prepared)


class _Prepared(NamedTuple):
    """A program as NumPy computes it."""

    low: ClosedJaxpr
    high_types: Sequence[Any]
    is_high: bool


def _prepare(program: ClosedJaxpr) -> _Prepared | None:
    """A program after the passes that run where it is compiled, if NumPy computes it to the last
    bit."""
    before = passes.run_passes("hi", program, PLATFORM)
    low = passes.run_passes("ir", lower_to_lo(before) if before.is_high else before, PLATFORM)
    return _Prepared(low, before.out_avals, before.is_high) if is_exact(low) else None


class NumpyFallback(Runnable):
    """Runs a program by NumPy; it is compiled when that has happened often enough."""

    def __init__(self, request: Request, prepared: _Prepared) -> None:
        self._name, self._device, self._prepared = request.name, request.device, prepared
        self._count = 0
        self._compilation: Compilation | None = None

    def exchange(self, request: Request) -> Runnable:
        """Return the compiled program, if it is required or compiled; else this."""
        often: int = interpret_first_calls.value
        if not (often and request.may_be_provisional) or is_watched():
            return provide(request.final())
        if self._compilation is None:
            if self._count >= often:
                self._compilation = compile_in_background(request)
        # Once compiled, the program has the executable instead of this; else compiling has failed.
        elif self._compilation.is_over or self._count > often + PATIENCE:
            return provide(request.final())
        return self

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any] | None:
        """The results; None if an operand is not ready, or a number is subnormal."""
        low, high_types, is_high = self._prepared
        operands = lower_values(leaves, f"asked for to call {self._name}") if is_high else leaves
        if not all(map(_is_ready, operands)):
            return None
        if no_execution.value:
            refuse_execution(self._name)
        result = evaluate_exactly(low, operands)
        if result is None:
            return None
        self._count += 1
        arrays = [put(x, a, self._device, committed) for x, a in zip(result, low.out_avals)]
        return raise_values(arrays, high_types) if is_high else arrays


def _is_ready(x: Any) -> bool:
    """Tell whether a value can be read without waiting."""
    return x.__class__ is not ArrayImpl or (not x.is_deleted() and x.is_ready())


def is_watched() -> bool:
    """Tell whether a hook or an observer would notice that a program is not compiled, or not run by
    the runtime."""
    return (
        watching()
        or timing.hear is not None
        or guards.watches_transfers()
        or fork.forked()
        or bool(passes.passes_for("module", PLATFORM))
        or has_hooks(*_HOOKS)
    )
