"""The place of an operation as those who read programs see it: a line, and scopes one by one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from .source import AnnotatedScope, Source


class ScopeName(NamedTuple):
    """One scope of a stack."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class NameStack:
    """The scopes that an operation is in, outermost first; as a string, joined by slashes."""

    stack: tuple[ScopeName, ...] = ()

    @classmethod
    def of(cls, scope: str) -> NameStack:
        """The stack that a joined string names."""
        return cls(tuple(map(ScopeName, scope.split("/")))) if scope else cls()

    def extend(self, name: str | Sequence[str]) -> NameStack:
        """The stack with further scopes inside of it."""
        names = (name,) if isinstance(name, str) else name
        return NameStack(self.stack + tuple(map(ScopeName, names)))

    def transform(self, name: str) -> NameStack:
        """The stack in which a transformation shows: ``name(scope)``, of each scope."""
        if not self.stack:
            return self.extend(f"{name}()")
        return NameStack(tuple([ScopeName(f"{name}({s})") for s in self.stack]))

    def __add__(self, other: NameStack) -> NameStack:
        return NameStack(self.stack + other.stack)

    def __radd__(self, other: NameStack) -> NameStack:
        return NameStack(other.stack + self.stack)

    def __getitem__(self, index: int | slice) -> NameStack:
        return NameStack(self.stack[index] if isinstance(index, slice) else (self.stack[index],))

    def __len__(self) -> int:
        return len(self.stack)

    def __str__(self) -> str:
        return "/".join(map(str, self.stack))


@dataclass(frozen=True)
class SourceInfo:
    """The place of an operation: the user's line (None: unknown), and the scopes around it."""

    traceback: Source | None = None
    name_stack: NameStack = NameStack()

    @classmethod
    def of(cls, source: Source | None) -> SourceInfo:
        """What a source location says."""
        return cls() if source is None else cls(source, NameStack.of(source.scope))

    def replace(self, **changes: Any) -> SourceInfo:
        """A copy with some fields replaced."""
        return replace(self, **changes)

    @property
    def source(self) -> Source | None:
        """The source location that says this."""
        place, scope = self.traceback, str(self.name_stack)
        if place is None or place.scope == scope:
            return place
        if isinstance(place.scope, AnnotatedScope):
            scope = AnnotatedScope(scope, place.scope.annotations)
        return place._replace(scope=scope)
