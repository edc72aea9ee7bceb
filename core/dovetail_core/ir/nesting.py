"""What is derived from programs, to any depth of nesting on a stack of limited depth.

What a program gives rise to (its derivative, its batched form) needs the same of the programs that
it holds, and those that they hold: a recursion whose every level takes a score of Python's frames.
Where it has gone far down it is broken off. The innermost piece is made first, from the top of the
recursion; then what was broken off is begun again, and finds that piece remembered.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Hashable
from contextvars import Context, ContextVar, copy_context
from typing import Any, NamedTuple

from ..xla.config import trace_context

Cache = dict[Any, Any]
Make = Callable[[], Any]

EVERY = 4
"""Of so many levels of the recursion one looks at the stack, which takes a while."""
SHARE = 0.5
"""How much of Python's stack the recursion may fill before it is broken off."""
WORTH = 150
"""How many frames breaking off must set free."""
ATTEMPTS = 10_000

_level: ContextVar[int] = ContextVar("dovetail_nesting", default=0)
_options: ContextVar[Any] = ContextVar("dovetail_nesting_options", default=())
"""Those at the top of the recursion; a thread has others where somebody set them on the way."""


class _Wanted(NamedTuple):
    """``cache[key] = make()``, to be done in a context, where there was one."""

    cache: Cache
    key: Hashable
    make: Make
    context: Context | None

    def run(self) -> Any:
        found = self.make() if self.context is None else self.context.run(self.make)
        self.cache[self.key] = found
        return found


class _First(BaseException):
    """Unwinds the stack to the top of the recursion: something is wanted first.

    It is no ``Exception``: no handler on the way is meant.
    """

    def __init__(self, wanted: _Wanted) -> None:
        super().__init__()
        self.wanted = wanted


def remember(cache: Cache, key: Hashable, make: Make) -> Any:
    """``cache[key] = make()``, where ``make`` does the same for the programs within a program.

    ``make`` may be broken off and called again, so what it does beside returning a result must
    bear that.
    """
    level = _level.get()
    if level and level % EVERY == 0 and _is_deep() and _options.get() == trace_context():
        _level.set(1)  # of the context that is copied
        wanted = _Wanted(cache, key, make, copy_context())
        _level.set(level)
        raise _First(wanted)
    _level.set(level + 1)
    try:
        found = cache[key] = make() if level else _from_the_top(_Wanted(cache, key, make, None))
        return found
    finally:
        _level.set(level)


def _from_the_top(wanted: _Wanted) -> Any:
    """Make what is wanted, and before it whatever it was broken off for."""
    _options.set(trace_context())
    todo = [wanted]
    for _ in range(ATTEMPTS):
        try:
            found = todo[-1].run()
        except _First as first:
            todo.append(first.wanted)
            continue
        todo.pop()
        if not todo:
            return found
    raise AssertionError("what is remembered with a program is not found again by its key")


def _is_deep() -> bool:
    """Whether the stack is rather full, and breaking off the recursion would free much of it."""
    n, below = 0, 0
    frame = sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame is not None:
        n, frame = n + 1, frame.f_back
        if not below and frame is not None and frame.f_code is _from_the_top.__code__:
            below = n
    return below > WORTH and n > SHARE * sys.getrecursionlimit()
