"""Annotations of operations: named strings that travel with the operations' source locations.

Whatever keeps an operation's location keeps them: derivatives, mapped and lowered programs. Each
backend decides what it does with them. They cost nothing where no program is annotated.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from types import MappingProxyType
from typing import Any, NamedTuple

from dovetail_base.scopes import Scope
from dovetail_base.source import AnnotatedScope, Source, get_scope, set_scope
from dovetail_xla.config import LateConfig

_NONE: Mapping[str, str] = MappingProxyType({})
_current = LateConfig("dovetail_annotations", ())  # part of the key of a traced program


class annotate(Scope):  # lower case: used as a function
    """Context manager and decorator that gives annotations to the operations within it.

    Args:
        annotations: strings by name, added to those of enclosing scopes; None removes one.
    """

    __slots__ = ("annotations",)

    def __init__(self, annotations: Mapping[str, str | None]) -> None:
        super().__init__()
        self.annotations = annotations

    def _read(self) -> Any:
        return get_scope(), _current.get_local()

    def _enter(self, outer: Any) -> None:
        scope, _ = outer
        merged = {**getattr(scope, "annotations", _NONE), **self.annotations}
        kept = {k: v for k, v in merged.items() if v is not None}
        _current.set_local(tuple(sorted(kept.items())))
        set_scope(AnnotatedScope(scope, kept))

    def _leave(self, outer: Any) -> None:
        scope, local = outer
        set_scope(scope)
        _current.set_local(local)


def are_used() -> bool:
    """Return whether any operation of this process may be annotated."""
    return _current.was_set


def annotations_of(source: Source | None) -> Mapping[str, str]:
    """The annotations of an operation whose source location is ``source``."""
    return _NONE if source is None else getattr(source.scope, "annotations", _NONE)


class Annotated(NamedTuple):
    """The annotations of an operation, for interpreters that apply it again."""

    annotations: Mapping[str, str]

    @property
    def manager(self) -> Any:
        """A context manager in which operations have these annotations."""
        return annotate(self.annotations) if self.annotations else nullcontext()
