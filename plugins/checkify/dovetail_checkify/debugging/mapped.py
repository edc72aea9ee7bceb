"""Mapped axes of results, recorded while ``vmap`` is traced, for messages about nan."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextvars import ContextVar
from typing import Any

from dovetail_base.scopes import run_with
from dovetail_base.source import BackwardSource, Source
from dovetail_batching import BatchTrace
from dovetail_core import Eqn, LiftTracer, Primitive, StagedTracer, Tracer

from .finding import KINDS, Finding, Mapped, NumericError, concrete_finding

_quiet: ContextVar[bool] = ContextVar("dovetail_quiet", default=False)
is_quiet = _quiet.get


def quietly(f: Callable[..., Any], *args: Any) -> Any:
    """``f(*args)`` without checks of results."""
    return run_with(_quiet, True, f, *args)


class _Noted(Source):
    axes: dict[int, tuple[Mapped, ...]]


class _NotedBackward(BackwardSource):
    axes: dict[int, tuple[Mapped, ...]]


def axes_of(eqn: Eqn, result: int) -> tuple[Mapped, ...]:
    """The recorded mapped axes of a result of an equation."""
    return getattr(eqn.source, "axes", {}).get(result, ())


class WatchedBatchTrace(BatchTrace):
    """Records the mapped axes of results, and adds the index of the element to errors."""

    __slots__ = ()

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        try:
            out = super().process(primitive, args, params)
        except NumericError as e:
            if primitive.regions is None and e.finding is not None:  # not of what is inside
                again = quietly(super().process, primitive, args, params)
                result = _element(e.finding, primitive, args, _list(again))
                if result is not None:
                    raise NumericError(str(result), result) from None
            raise
        for x in _list(out):
            _note(x)
        return out


def _list(out: Any) -> Sequence[Any]:
    return out if isinstance(out, (list, tuple)) else [out]


def _note(x: Any) -> None:
    array, axes = _unwrapped(x)
    if axes and isinstance(array, StagedTracer):
        eqn = array._trace.definition(array.variable)
        if eqn is not None and eqn.source is not None:
            known = getattr(eqn.source, "axes", {})
            noted: Any = _NotedBackward if isinstance(eqn.source, BackwardSource) else _Noted
            source = noted(*eqn.source)
            source.axes = {**known, eqn.outvars.index(array.variable): axes}
            array._trace.place(array, source)


def _element(
    finding: Finding, primitive: Primitive, args: Sequence[Any], outs: Sequence[Any]
) -> Finding | None:
    """The finding for the mapped operation, with the index of the element."""
    arrays = [_unwrapped(x)[0] for x in args]
    for x in outs:
        array, axes = _unwrapped(x)
        if isinstance(array, Tracer) or any(isinstance(a, Tracer) for a in arrays):
            continue
        source = finding.source
        result = concrete_finding(
            KINDS[finding.kind], f"primitive {primitive.name}", source, arrays, [array]
        )
        if result is not None:
            return result._replace(mapped=axes, is_differentiated=finding.is_differentiated)
    return None


def _unwrapped(x: Any) -> tuple[Any, tuple[Mapped, ...]]:
    """The array inside of lifted tracers, and its mapped axes."""
    axes: list[Mapped] = []
    while isinstance(x, LiftTracer):
        trace: Any = x._trace
        if not isinstance(trace, BatchTrace):
            x = trace.carrier.primal(x.value)
            continue
        x, dim = x.value
        if isinstance(dim, int):
            axes = [m._replace(axis=m.axis + (m.axis >= dim)) for m in axes]
            axes.insert(0, Mapped(dim, trace.axis.size))
    return x, tuple(axes)
