"""The origin of an operation, for code that reads programs: a source line and name scopes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

from dovetail_base.naming import inside, parts
from dovetail_base.source import AnnotatedScope, Source


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
        place, scope = self.traceback, str(self.name_stack)
        if place is None or place.scope == scope:
            return place
        if isinstance(place.scope, AnnotatedScope):
            scope = AnnotatedScope(scope, place.scope.annotations)
        return place._replace(scope=scope)
