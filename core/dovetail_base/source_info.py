"""The origin of an operation, for code that reads programs: its line, its scopes, its annotations.

Annotations are named strings that travel with the operations' source locations. Whatever keeps an
operation's location keeps them: derivatives, mapped and lowered programs. Each backend decides what
it does with them. They cost nothing where no program is annotated.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import reduce
from types import MappingProxyType
from typing import Any, NamedTuple

from dovetail_base.naming import inside, parts
from dovetail_base.scopes import Scope
from dovetail_base.source import AnnotatedScope, Source, get_scope, set_scope
from dovetail_xla.config import LateConfig


class ScopeName(NamedTuple):
    """One scope of a stack."""

    name: str

    def __str__(self) -> str:
        return self.name


class TransformationName(NamedTuple):
    """A transformation in a stack, which applies to the scopes after it."""

    name: str

    def __str__(self) -> str:
        return f"{self.name}()"


@dataclass(frozen=True)
class NameStack:
    """The scopes and transformations that an operation is in, outermost first; as a string, scopes
    are joined by slashes, and a transformation is written around the scope after it."""

    stack: tuple[ScopeName | TransformationName, ...] = ()

    @classmethod
    def of(cls, scope: str) -> NameStack:
        """The stack that a string names."""
        return cls(tuple([name for part in parts(scope) for name in _names(part)]))

    def extend(self, name: str | Sequence[str]) -> NameStack:
        """The stack with further scopes appended."""
        names = (name,) if isinstance(name, str) else name
        return NameStack(self.stack + tuple(map(ScopeName, names)))

    def transform(self, name: str) -> NameStack:
        """The stack with a transformation appended."""
        return NameStack((*self.stack, TransformationName(name)))

    def __add__(self, other: NameStack) -> NameStack:
        return NameStack(self.stack + other.stack)

    def __radd__(self, other: NameStack) -> NameStack:
        return NameStack(other.stack + self.stack)

    def __getitem__(self, index: int | slice) -> NameStack:
        return NameStack(self.stack[index] if isinstance(index, slice) else (self.stack[index],))

    def __len__(self) -> int:
        return len(self.stack)

    def __str__(self) -> str:
        return reduce(inside, map(str, self.stack), "")


def _names(part: str) -> Iterator[ScopeName | TransformationName]:
    """A scope and the transformations around it."""
    while result := re.fullmatch(r"(\w+)\((.*)\)", part):
        yield TransformationName(result[1])
        part = result[2]
    if part:
        yield ScopeName(part)


@dataclass(frozen=True)
class SourceInfo:
    """The origin of an operation: the user's line (None: unknown), and the scopes around it."""

    traceback: Source | None = None
    name_stack: NameStack = NameStack()

    @classmethod
    def of(cls, source: Source | None) -> SourceInfo:
        """The line and the scopes of a source location."""
        return cls() if source is None else cls(source, NameStack.of(source.scope))

    def replace(self, **changes: Any) -> SourceInfo:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    @property
    def source(self) -> Source | None:
        """The source location with this line and these scopes."""
        location, scope = self.traceback, str(self.name_stack)
        if location is None or location.scope == scope:
            return location
        if isinstance(location.scope, AnnotatedScope):
            scope = AnnotatedScope(scope, location.scope.annotations)
        return location._replace(scope=scope)


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
