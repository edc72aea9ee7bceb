"""Ways to evaluate a function of arrays: most of them compile nothing, so that they are quick."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

import dovetail
from dovetail_backends import asarray_on, evaluate
from dovetail_core import (
    ClosedJaxpr,
    Primitive,
    Tracer,
    float0,
    registry,
    stage_closed,
    typeof,
)
from dovetail_jit import Runnable
from dovetail_jit.call import miss
from dovetail_xla.config import trace_context

from .surroundings import QUICK

Function = Callable[..., Any]
KEPT = 500
"""For how many types and parameters of one primitive a program is remembered."""


def _arrays(result: Any) -> tuple[Any, ...]:
    return tuple([np.asarray(x) for x in result])


def staged(f: Function) -> Function:
    """Traced as a whole, and evaluated by NumPy."""
    run = dovetail.jit(f, backend="reference")
    return lambda *args: _arrays(run(*args))


def eager(f: Function) -> Function:
    """Evaluated operation by operation."""
    return lambda *args: _arrays(f(*map(dovetail.numpy.asarray, args)))


def python(f: Function) -> Function:
    """The same without jit, and with control flow in Python."""

    def run(*args: Any) -> Any:
        with dovetail.disable_jit():
            return eager(f)(*args)

    return run


def compiled(f: Function) -> Function:
    """Compiled by XLA, and called with memory that is written to after the call."""
    run = dovetail.jit(f, compiler_options=QUICK)

    def call(*args: Any) -> Any:
        run(*args)  # the next call is C++'s
        given = [_aligned(x) for x in args]
        result = run(*given)
        for x in given:
            x.fill(x.dtype.type(1))
        return _arrays(result)

    return call


def _aligned(x: Any) -> Any:
    """A copy of an array at a multiple of 64 bytes, where runtimes share memory."""
    x = np.asarray(x)
    whole = np.zeros(x.nbytes + 64, np.uint8)
    start = -whole.ctypes.data % 64
    copy = whole[start : start + x.nbytes].view(x.dtype).reshape(x.shape)
    copy[...] = x
    return copy


EVALUATIONS: dict[str, Function] = {
    "staged": staged,
    "eager": eager,
    "python": python,
    "compiled": compiled,
}


class _Interpreted(Runnable):
    """In place of an executable: the program, evaluated by NumPy."""

    is_provisional = False  # type: ignore[assignment]

    def __init__(self, program: ClosedJaxpr, device: Any) -> None:
        self.program = program
        self.device = device
        self.module = SimpleNamespace(host_callbacks=())

    @property
    def compiled(self) -> Any:
        return self

    def run(self, leaves: Sequence[Any], committed: bool) -> list[Any]:
        outs: list[Any] = evaluate(self.program, *leaves)
        avals: list[Any] = list(self.program.out_avals)
        return [
            x if a.dtype == float0 else asarray_on(x, a, self.device) for x, a in zip(outs, avals)
        ]

    def repeat(self, *_: Any) -> tuple[None, bool]:
        return None, False


def without_compiling() -> None:
    """Have this process interpret what it would compile, unless that is asked for by ``compiled``.

    An eager operation is compiled once per shape and parameters, which for random programs is
    always, and takes longer than all else that is done with it. Tracing and transformations stay
    as they are.
    """
    compiling = miss.executable_for
    compiled_rules = registry().provider("evaluator")

    def executable_for(request: Any) -> Any:
        if request.given == QUICK:
            return compiling(request)
        return _Interpreted(request.program, request.device)

    def evaluator(primitive: Primitive) -> Function:
        return _rule(primitive, compiled_rules(primitive))

    miss.executable_for = miss.compiled_for = executable_for
    registry()._objects["provider evaluator"] = evaluator  # pyright: ignore[reportPrivateUsage]


def _rule(primitive: Primitive, otherwise: Function) -> Function:
    """One eager operation, for which a program is made once per types and parameters."""
    programs: dict[Any, _Interpreted] = {}

    def rule(*args: Any, **params: Any) -> Any:
        avals = tuple([typeof(x) for x in args])
        key: Any = (avals, tuple(params.items()), trace_context())
        try:
            result = programs.get(key)
        except TypeError:  # an unhashable parameter
            return otherwise(*args, **params)
        if result is None:
            if any(a.is_mutable or a.is_high for a in avals) or any(
                isinstance(x, Tracer) for x in args
            ):
                return otherwise(*args, **params)

            def body(*xs: Any) -> list[Any]:
                out = primitive.bind(*xs, **params)
                return list(out) if primitive.multiple_results else [out]

            if len(programs) >= KEPT:
                programs.clear()
            program = stage_closed(body, avals, primitive.name)
            result = programs[key] = _Interpreted(program, dovetail.devices("cpu")[0])
        outs = result.run(args, False)
        return outs if primitive.multiple_results else outs[0]

    return rule
