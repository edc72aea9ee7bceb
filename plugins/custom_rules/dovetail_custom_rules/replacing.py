"""Calls of functions in which tracers that they close over are replaced by other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import Primitive, Trace, Tracer, get_trace, run_under, set_trace


class ReplacingTrace(Trace):
    """Passes operations to its parent with certain tracers replaced by other values.

    A rule runs when its call is transformed, which is later than the call. A value that it closes
    over is an operand of the call, and has another value then: lifted, mapped, or of another
    program.
    """

    __slots__ = ("_values",)
    parent: Trace

    def __init__(self, parent: Trace, pairs: Sequence[tuple[Tracer[Any], Any]]) -> None:
        super().__init__(parent)
        # By id, and with the tracer, so that its id stays its own.
        self._values = {id(x): (x, value) for x, value in pairs}

    @property
    def what(self) -> str:  # type: ignore[override]
        return self.parent.what

    @property
    def is_reverse(self) -> bool:  # type: ignore[override]
        return self.parent.is_reverse

    @property
    def computes(self) -> bool:  # type: ignore[override]
        return self.parent.computes

    def replaces(self, x: Any) -> bool:
        """Return whether ``x`` is replaced by another value."""
        return id(x) in self._values

    def replaced(self, x: Any) -> Any:
        """The value that replaces ``x``; ``x`` itself if there is none."""
        result = self._values.get(id(x))
        return x if result is None else result[1]

    def process(self, primitive: Primitive, args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        values = tuple(map(self.replaced, args))
        outer = get_trace()
        try:
            set_trace(self.parent)
            return self.parent.process(primitive, values, params)
        finally:
            set_trace(outer)


def run_replacing(
    pairs: Sequence[tuple[Tracer[Any], Any]], f: Callable[..., Any], *args: Any
) -> tuple[Any, Callable[[Any], Any]]:
    """``f(*args)`` with other values for some tracers, and the function that replaces these in its
    result."""
    trace = ReplacingTrace(get_trace(), pairs)
    try:
        return run_under(trace, f, *args), trace.replaced
    finally:
        trace.ended = True
