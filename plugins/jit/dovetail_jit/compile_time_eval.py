"""``ensure_compile_time_eval``: while tracing, what is known is computed at once."""

from __future__ import annotations

from typing import Any

from dovetail_base.scopes import Scope
from dovetail_core import EVAL, Primitive, Trace, Tracer, get_trace, run_under, set_trace
from dovetail_xla.config import tracing_state


class CompileTimeTrace(Trace):
    """Computes operations on known values; those on traced ones are its parent's."""

    __slots__ = ()
    what = "ensure_compile_time_eval"
    computes = True

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        for x in args:
            if isinstance(x, Tracer):
                assert self.parent is not None
                return run_under(self.parent, self.parent.process, primitive, args, params)
        return _evaluating.run(EVAL.process, primitive, args, params)


class _Evaluating(Scope):
    """Nothing is being traced inside."""

    __slots__ = ()

    def _read(self) -> Any:
        return get_trace(), tracing_state.get_local()

    def _enter(self, outer: Any) -> None:
        set_trace(EVAL)
        tracing_state.set_local(False)

    def _leave(self, outer: Any) -> None:
        trace, tracing = outer
        set_trace(trace)
        tracing_state.set_local(tracing)


_evaluating = _Evaluating()


class ensure_compile_time_eval(Scope):  # lower case: used as a function
    """Context manager and decorator: operations on known values are computed while tracing.

    Those on traced values are part of the program that is being traced, as outside of it.
    """

    __slots__ = ()

    def _read(self) -> Any:
        return get_trace()

    def _enter(self, outer: Any) -> None:
        set_trace(outer if outer.computes else CompileTimeTrace(outer))

    def _leave(self, outer: Any) -> None:
        set_trace(outer)
