"""Values of outer traces that programs see as varying over axes of a mesh."""

from __future__ import annotations

from collections.abc import Hashable
from contextvars import ContextVar
from typing import Any

from dovetail_base.scopes import Scope

_Around = tuple[frozenset[Hashable], frozenset[int]]
_around: ContextVar[tuple[_Around, ...]] = ContextVar("dovetail_varying_around", default=())

varying_key = _around.get
"""``varying_key()``: the part of a program's key that depends on :class:`outer_values_vary`."""


class outer_values_vary(Scope):  # lower case: used as a function
    """Context manager in which programs see values of outer traces as varying over axes of a mesh.

    A program that is traced in it runs on some of the devices along these axes only, so that none
    of its operations may wait for the others, not even the sums of cotangents of values that it
    closes over. The code that stages it converts these values to the types of its variables.

    Args:
        axes: of a mesh. outer: the outer trace; values of it and of its parents are seen so.
    """

    __slots__ = ("more",)

    def __init__(self, axes: frozenset[Hashable], outer: Any) -> None:
        super().__init__()
        traces: list[int] = []
        while outer is not None:
            traces.append(id(outer))
            outer = outer.parent
        self.more: _Around = (axes, frozenset(traces))

    def _read(self) -> tuple[_Around, ...]:
        return _around.get()

    def _enter(self, outer: tuple[_Around, ...]) -> None:
        _around.set((*outer, self.more))

    def _leave(self, outer: tuple[_Around, ...]) -> None:
        _around.set(outer)


def outer_varying_axes(tracer: Any) -> frozenset[Hashable]:
    """The axes over which a traced value is seen as varying, beside those of its type."""
    result: frozenset[Hashable] = frozenset()
    for axes, traces in _around.get():
        if id(tracer._trace) in traces:
            result |= axes
    return result
