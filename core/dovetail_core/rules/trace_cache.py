"""The door to results of tracing users' functions that are used again: provider ``trace_cache``."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from dovetail_base.wrapping import callable_name

from ..ir.programs import ClosedJaxpr, Jaxpr
from ..registry.discovery import registry


class TraceCache:
    """Base of the provider; it keeps nothing, and is used where there is none."""

    def get(self, f: Any, key: Hashable) -> Any:
        """The result that :meth:`put` was given for ``f``, while it is up to date; else None."""
        return None

    def put(
        self,
        f: Any,
        key: Hashable,
        consts: Sequence[Any],
        program: Jaxpr | ClosedJaxpr,
        result: Any,
    ) -> None:
        """Keep the result of tracing ``f`` to a program that closes over the values ``consts``."""

    def alias(self, f: Any, of: Any, how: Hashable) -> None:
        """Note that the library made ``f`` of ``of`` at this call, and name it so: results of ``f``
        are kept with ``of``, under ``how`` it was made."""
        f.__name__ = callable_name(of)

    def tracing(self) -> AbstractContextManager[None]:
        """A context within which a function is traced; the outermost one ends all results that
        belong to a trace."""
        return nullcontext()

    def eager_call(
        self, name: str, again: Callable[..., Any], functions: Sequence[Any],
        statics: tuple[Any, ...], *operands: Any,
    ) -> Any:  # fmt: skip
        """The result of ``again(functions, statics, *operands)``, called eagerly, from one program
        that is kept; NotImplemented if the call cannot be one program.

        Args:
            name: of the program.
            again: a function of the library, which makes the call in a trace.
            functions: the caller's.
            statics: Python's numbers and the like, which are part of the key.
            operands: pytrees of arrays.
        """
        return NotImplemented


_keeps_nothing = TraceCache()


def trace_cache() -> TraceCache:
    """The provider ``trace_cache``; where there is none, one that keeps nothing."""
    return registry().provider("trace_cache", default=_keeps_nothing)
