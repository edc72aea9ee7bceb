"""Values derived from nested programs, to any depth of nesting on a stack of limited depth.

A value derived from a program (its derivative, its batched form) needs the same of the programs
that it holds, and of those that they hold: a recursion each of whose levels takes some twenty
Python frames. When the stack is rather full the recursion is broken off. The innermost value is
then computed first, from the top of the recursion; the interrupted computation starts again, and
finds that value remembered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from contextvars import Context, ContextVar, copy_context
from itertools import count
from typing import Any

from dovetail_base.caches import Cache
from dovetail_xla.config import trace_context

Make = Callable[[], Any]

NEAR = 4
"""The number of levels between measurements of the stack's depth, which take some time."""
SHARE = 0.5
"""The part of Python's stack that the recursion may fill before it is broken off."""
WORTH = 150
"""The least number of frames that breaking off must free."""
ATTEMPTS = 1000
ANY = float("inf")

_level: ContextVar[int] = ContextVar("dovetail_nesting", default=0)
_options: ContextVar[Any] = ContextVar("dovetail_nesting_options", default=())
"""The trace context at the top of the recursion; options set within it make another one."""
_since: ContextVar[float] = ContextVar("dovetail_nesting_since", default=ANY)
"""The first number (``born``) of programs for which the recursion is not broken off."""
born = count()
"""Numbers programs in the order in which they are made."""


class Remembering:
    """A program that remembers derived values until it dies or all caches are emptied."""

    __slots__ = ("cache", "born")

    def __init__(self) -> None:
        self.cache: Cache[Any, Any] = Cache()
        self.born = next(born)

    def remember(self, key: Hashable, make: Make) -> Any:
        """``cache[key] = make()``, where ``make`` does so for the programs within this one.

        ``make`` may be broken off and called again, so its side effects must allow that.
        """
        level = _level.get()
        if level > NEAR and self._is_time(level):
            raise _First(_Wanted(self, key, make, _at_the_top(level)))
        try:
            try:
                _level.set(level + 1)
                result = make() if level else _from_the_top(_Wanted(self, key, make, None))
            finally:  # as in base.scopes.run_with, without its frame
                _level.set(level)
        finally:
            _level.set(level)
        return self.cache.setdefault(key, result)  # another thread may have been first

    def _is_time(self, level: int) -> bool:
        """Return whether to break off the recursion at this level."""
        since = _since.get()
        if since == ANY:
            return level % NEAR == 0 and _is_deep()
        return self.born < since and _is_deep()


def _at_the_top(level: int) -> Context:
    """A copy of the context in which the level is 1."""
    _level.set(1)
    result = copy_context()
    _level.set(level)
    return result


class _Wanted:
    """A computation ``program.cache[key] = make()`` to be done, in a context if one is given."""

    __slots__ = ("program", "key", "make", "context", "last", "since")

    def __init__(
        self, program: Remembering, key: Hashable, make: Make, context: Context | None
    ) -> None:
        self.program = program
        self.key = key
        self.make = make
        self.context = context
        self.last: Hashable = None
        self.since = False

    def run(self) -> Any:
        result = self._begin() if self.context is None else self.context.run(self._begin)
        self.program.cache[self.key] = result
        return result

    def _begin(self) -> Any:
        _since.set(next(born) if self.since else ANY)
        return self.make()

    def broken_off(self, key: Hashable) -> None:
        """Note the key of the computation for which this one was broken off.

        The same key twice means a program that is made anew at each attempt. From then on this
        computation is broken off only for programs that existed when it began.
        """
        self.since = self.since or key == self.last
        self.last = key


class _First(BaseException):
    """Unwinds the stack to the top of the recursion, where ``wanted`` is computed first.

    It is no ``Exception``, so that no handler between catches it.
    """

    def __init__(self, wanted: _Wanted) -> None:
        super().__init__()
        self.wanted = wanted


def _from_the_top(wanted: _Wanted) -> Any:
    """Do the computation, and before it those for which it is broken off."""
    _options.set(trace_context())
    todo = [wanted]
    for _ in range(ATTEMPTS):
        try:
            result = todo[-1].run()
        except _First as first:
            todo[-1].broken_off(first.wanted.key)
            todo.append(first.wanted)
            continue
        todo.pop()
        if not todo:
            return result
    raise AssertionError("what is remembered with a program is not found again by its key")


def _is_deep() -> bool:
    """Return whether the stack is rather full, and breaking off would free much of it."""
    n, below = 0, 0
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        n, frame = n + 1, frame.f_back
        if not below and frame is not None and frame.f_code is _from_the_top.__code__:
            below = n
    full = below > WORTH and n > SHARE * sys.getrecursionlimit()
    return full and _options.get() == trace_context()
