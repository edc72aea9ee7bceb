"""Calls by backends that are not PJRT: they take programs as they are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NoReturn

import numpy as np

from dovetail_backends import refuse_unsupported_dtypes
from dovetail_base.source import warn_here
from dovetail_core import (
    ClosedJaxpr,
    LiftTrace,
    Trace,
    here,
    lower_to_lo,
    lower_values,
    mutable_values,
    passes,
    raise_values,
)

from .mutable_arguments import boundary_of
from .observers import Run, notify_observers
from .program import Program

Runner = Callable[[Sequence[Any]], Sequence[Any]]


def call_backend(
    backend: Any,
    callee: Any,
    program: Program,
    operands: Sequence[Any],
    donated: Sequence[bool],
) -> list[Any]:
    """The results of a call by a backend that takes whole programs.

    Raises:
        ValueError: ``jit`` was given what such a backend does not do; names it.
    """
    name = callee.name
    _check_settings(backend, callee)
    if any(donated):
        _warn_of_donated(name, backend)
    bound = boundary_of(program.call)
    call, given = program.call, operands
    if bound is not None:
        call, given = bound.program, bound.contents(operands)
    low, run = call.memo(("runner", backend), lambda: _compiled(backend, call, name))
    arrays = lower_values(given, f"asked for to call {name}")
    values = [_of_type(x, a) for x, a in zip(arrays, low.in_avals)]
    outs = raise_values(list(run(values)), call.out_avals)
    notify_observers(Run(call, name, given, outs))
    return outs if bound is None else bound.finish(operands, outs)


def _compiled(backend: Any, program: ClosedJaxpr, name: str) -> tuple[ClosedJaxpr, Runner]:
    """The program that the backend gets, after all passes, and the function of its operands.

    Raises:
        Unsupported: it has values of element types that the backend lacks.
    """
    program = passes.run_passes("hi", program, backend.platform)
    if program.is_high:
        program = lower_to_lo(mutable_values.discharge(program))
    program = passes.run_passes("ir", program, backend.platform)
    refuse_unsupported_dtypes(backend, program, name)
    compile_program = getattr(backend, "compile", None)
    if compile_program is not None:
        return program, compile_program(program)
    return program, partial(backend.run, program)


def _of_type(x: Any, aval: Any) -> Any:
    """A number or NumPy array, converted to the type of the program's operand."""
    if isinstance(x, (bool, int, float, complex, np.ndarray, np.generic)):
        return np.asarray(x, aval.dtype)
    return x


def _check_settings(backend: Any, settings: Any) -> None:
    """Refuse arguments of ``jit`` that such a backend does not support.

    Raises:
        ValueError: names it.
    """
    options = ", ".join(map(repr, sorted(settings.options)))
    given = {
        f"compiler_options ({options})": bool(settings.options),
        "in_shardings or out_shardings": settings.result_shardings is not None,
    }
    for what, is_given in given.items():
        if is_given:
            raise ValueError(
                f"jit of {settings.name}{here()}: {what} given with backend {backend.platform!r}, "
                "which runs whole programs: XLA neither compiles nor divides them. Leave "
                f"{what.partition(' (')[0]} out, or the backend."
            )


def _warn_of_donated(name: str, backend: Any) -> None:
    """Warn that donated arguments are not used."""
    warn_here(
        f"Some donated buffers were not usable. {name}: backend {backend.platform!r} runs whole "
        "programs, and takes no memory of arguments: they stay as they are. Do not donate them.",
        UserWarning,
    )


def refuse_transformed(name: str, backend: Any, trace: Trace) -> NoReturn:
    """Raise TypeError: a function jitted for such a backend is called while something traces it."""
    where = f"backend={backend.platform!r}"
    remedy = f"Call it outside of what is traced, or jit that as a whole: jit(..., {where})."
    if trace.function:
        remedy = f"Transform first: jit({trace.function}({name}), {where})."
    elif isinstance(trace, LiftTrace):
        remedy = f"Transform {name} first, and jit the result: jit(..., {where})."
    raise TypeError(
        f"{name}, jitted for backend {backend.platform!r}, is called under {trace.what}{here()}. "
        f"That backend runs whole programs, and would not run this one. {remedy}"
    )


def refuse_lowering(name: str, backend: Any) -> NoReturn:
    """Raise ValueError: there is nothing to lower to."""
    raise ValueError(
        f"{name}, jitted for backend {backend.platform!r}, cannot be lowered{here()}: that backend "
        "takes programs as they are. Call it, or say for which platform: trace(...)"
        ".lower(lowering_platforms=('cpu',))."
    )
