"""Mutable values, such as references, that belong to a trace which lifts values.

A type with ``is_mutable`` is that of a mutable value, whose contents operations read and write. A
trace that lifts values (differentiation, batching) cannot leave such a value to its parent, because
the values that are written may be lifted. So a mutable value that is made while it is current is a
:class:`LocalValue`: its contents are plain values of that trace, and operations on it are carried
out by the provider ``local_values``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from dovetail_base.source import current_source, describe

from ..dispatch.primitive import Primitive, Trace
from ..dispatch.tracer import Tracer
from ..types.avals import AbstractValue

__all__ = (
    "LocalValue",
    "is_local",
    "uses_local",
)


class LocalValue(Tracer[Trace]):
    """A mutable value that belongs to one trace, and its contents as values of that trace.

    ``closed_by`` is the reason why it cannot be used any more (it was frozen or freed), or empty. A
    ``borrowed`` one stands for a value that was made outside of the trace.
    """

    __slots__ = ("contents", "closed_by", "borrowed")

    def __init__(
        self, trace: Trace, aval: AbstractValue, contents: Iterable[Any], borrowed: bool = False
    ) -> None:
        self._trace = trace
        self.aval = aval
        self.contents = list(contents)
        self.closed_by = ""
        self.borrowed = borrowed

    def check(self) -> None:
        """Raise RuntimeError if the value was frozen or freed."""
        if self.closed_by:
            raise RuntimeError(
                f"{self.aval.str_short()} is used{describe(current_source())} after it was "
                f"{self.closed_by}"
            )


def is_local(trace: Trace, x: Any) -> bool:
    """Return whether ``x`` is a mutable value that belongs to ``trace``."""
    return x.__class__ is LocalValue and x._trace is trace


def uses_local(trace: Trace, primitive: Primitive, args: Sequence[Any]) -> bool:
    """Return whether a stateful operation makes or uses a mutable value of ``trace``."""
    if primitive.allocates:
        return True
    return any(x.__class__ is LocalValue and x._trace is trace for x in args)
