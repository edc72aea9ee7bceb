"""Source information set by hand: the scopes and the line that operations get."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager

from dovetail_base.scopes import Scope
from dovetail_base.source import (
    Source,
    get_override,
    get_scope,
    named_scope,
    set_override,
    set_scope,
    user_source,
)
from dovetail_base.source_info import NameStack, SourceInfo


def current() -> SourceInfo:
    """The source information of an operation that is applied now."""
    return SourceInfo.of(get_override() or user_source(2))


def current_name_stack() -> NameStack:
    """The scopes that are open."""
    return NameStack.of(get_scope())


def new_name_stack(name: str = "") -> NameStack:
    """A stack of one scope, or of none."""
    return NameStack.of(name)


def new_source_info() -> SourceInfo:
    """Unknown source information."""
    return SourceInfo()


extend_name_stack = named_scope


class set_name_stack(Scope):  # lower case: used as a function
    """Context manager in which the scopes are those of ``name_stack``."""

    __slots__ = ("name_stack",)

    def __init__(self, name_stack: NameStack) -> None:
        super().__init__()
        self.name_stack = name_stack

    def _read(self) -> str:
        return get_scope()

    def _enter(self, outer: str) -> None:
        set_scope(str(self.name_stack))

    def _leave(self, outer: str) -> None:
        set_scope(outer)


class transform_name_stack(Scope):  # lower case: used as a function
    """Context manager in which the scopes are those now, in a transformation ``name``."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name

    def _read(self) -> str:
        return get_scope()

    def _enter(self, outer: str) -> None:
        set_scope(str(NameStack.of(outer).transform(self.name)))

    def _leave(self, outer: str) -> None:
        set_scope(outer)


@contextmanager
def reset_name_stack() -> Generator[None]:
    """Context manager in which no scope is open."""
    with set_name_stack(NameStack()):
        yield


class user_context(Scope):  # lower case: used as a function
    """Context manager that sets the source of operations (their own lines where that is None)."""

    __slots__ = ("source", "name_stack")

    def __init__(self, traceback: Source | None, *, name_stack: NameStack | None = None) -> None:
        super().__init__()
        self.source, self.name_stack = traceback, name_stack

    def _read(self) -> tuple[Source | None, str]:
        return get_override(), get_scope()

    def _enter(self, outer: tuple[Source | None, str]) -> None:
        if self.source is not None:
            set_override(self.source)
        if self.name_stack is not None:
            set_scope(str(self.name_stack))

    def _leave(self, outer: tuple[Source | None, str]) -> None:
        set_override(outer[0])
        set_scope(outer[1])


def summarize(source_info: SourceInfo, num_frames: int = 1) -> str:
    """The source location as text: ``FILE:LINE (FUNCTION)``."""
    location = source_info.traceback
    if location is None:
        return "unknown"
    return f"{location.filename}:{location.line}:0 ({location.code.co_qualname})"
