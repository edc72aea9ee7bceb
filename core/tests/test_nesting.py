"""Recursions through programs that are broken off and begun again where the stack is low."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

import pytest

from dovetail_base import nesting
from dovetail_base.options import enable_x64
from dovetail_core import ClosedJaxpr, Jaxpr

DEPTH = 100


def program() -> ClosedJaxpr:
    return ClosedJaxpr(Jaxpr([], [], [], []))


def frames(n: int, f: Any) -> Any:
    """``f()``, so many frames further down."""
    return f() if n == 0 else frames(n - 1, f)


class Nest:
    """Programs each of which needs what is made of the next one."""

    def __init__(self, depth: int = DEPTH) -> None:
        self.programs = [program() for _ in range(depth)]
        self.begun = [0] * depth

    def of(self, i: int) -> int:
        """How many programs there are from ``i`` on."""
        if i == len(self.programs):
            return 0

        def make() -> int:
            self.begun[i] += 1
            return frames(20, lambda: self.of(i + 1)) + 1

        return self.programs[i].memo("count", make)


@pytest.fixture(autouse=True)
def stack() -> Iterator[None]:
    """As much of the stack as there is by default, whatever else runs the tests."""
    n, frame = 0, sys._getframe()
    while frame is not None:
        n, frame = n + 1, frame.f_back
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(n + 800)
    yield
    sys.setrecursionlimit(before)


def test_what_needs_more_than_the_stack_is_made_all_the_same() -> None:
    nest = Nest()
    assert nest.of(0) == DEPTH
    assert sum(nest.begun) <= 2 * DEPTH + 10
    assert [p.known("count") for p in nest.programs] == list(range(DEPTH, 0, -1))


def test_what_fits_is_made_once() -> None:
    nest = Nest(10)
    assert nest.of(0) == 10 and nest.begun == [1] * 10


def test_it_is_made_where_it_was_wanted() -> None:
    place: ContextVar[str] = ContextVar("place", default="")
    nest, seen = Nest(), list[str]()

    def of(i: int) -> None:
        if i == DEPTH:
            seen.append(place.get())
            return
        token = place.set(place.get() + ".")
        nest.programs[i].memo("x", lambda: frames(20, lambda: of(i + 1)))
        place.reset(token)

    of(0)
    assert seen == ["." * DEPTH] and place.get() == ""


def test_programs_that_are_made_anew_each_time_do_not_break_off_for_ever() -> None:
    old, begun = [program() for _ in range(DEPTH)], [0] * DEPTH

    def of(i: int) -> int:
        if i == DEPTH:
            return 0

        def make() -> int:
            begun[i] += 1
            return frames(8, lambda: of(i + 1)) + 1

        # What of a new program is remembered is lost where the recursion is broken off.
        return old[i].memo("x", lambda: program().memo("x", lambda: frames(8, make)))

    assert of(0) == DEPTH
    assert sum(begun) < 10 * DEPTH


def test_it_is_not_broken_off_where_options_are_others() -> None:
    nest, top = Nest(24), program()

    def make() -> int:
        with enable_x64(True):  # of this thread, which the place to begin again would not have
            return nest.of(0)

    assert top.memo("count", make) == 24
    assert nest.begun == [1] * 24
    again = Nest(24)
    assert program().memo("count", lambda: again.of(0)) == 24
    assert sum(again.begun) > 24


def test_errors_pass_and_nothing_is_left_behind() -> None:
    nest = Nest()

    def fail() -> None:
        raise ValueError("no")

    bad = program()
    with pytest.raises(ValueError, match="no"):
        bad.memo("x", fail)
    assert not bad.cache and nesting._level.get() == 0
    assert nest.of(0) == DEPTH and nesting._level.get() == 0
