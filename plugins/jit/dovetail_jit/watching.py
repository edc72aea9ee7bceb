"""Looking at the results of programs that run at rest, while an option asks for that.

A call that C++ repeats is seen by nobody, so there are no such calls meanwhile: the option's state
is part of the key by which C++ tells calls apart, and what is found under it is not for C++ to
repeat. While nobody looks this costs a test where a program is compiled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Literal, NamedTuple

from dovetail_core import ClosedJaxpr, Option
from dovetail_core.registry.configuration import load_settings

from .executables import Executable

Lines = Literal["all", "inside", "none"]
"""Which equations of a program know the user's line: all of them; those in sub-programs, where the
program is one operation; none, where it is a function of the library. Such a program was traced for
some other line of the user's, and is run again from this one."""


class Run(NamedTuple):
    """A program that has run, on concrete values.

    Attributes:
        name: of the function.
        lines: see :data:`Lines`; the line that runs is ``current_source()``.
    """

    program: ClosedJaxpr
    name: str
    operands: Sequence[Any]
    outs: Sequence[Any]
    lines: Lines = "all"


Look = Callable[[Run], None]
_watches: list[tuple[Option, Look]] = []
_settings = cache(load_settings)  # at the first run: an option that the environment sets looks on


def watch_results(option: Option, look: Look) -> None:
    """Call ``look(run)`` after each program that runs at rest while ``option`` is on.

    What it raises is raised by the call. The option must be made with ``traced=True``.
    """
    _watches.append((option, look))


def watching() -> bool:
    """Whether anybody looks: then no memory is given away, and C++ repeats no call."""
    _settings()
    return any(option.value for option, _ in _watches)


def run(
    ex: Executable,
    program: ClosedJaxpr,
    operands: Sequence[Any],
    committed: bool,
    lines: Lines = "all",
) -> list[Any]:
    """The results of an executable of ``program``, looked at."""
    outs = ex.run(operands, committed)
    if watching():
        look_at(Run(program, ex.module.name, operands, outs, lines))
    return outs


def fast_path(
    ex: Executable,
    out_tree: Any,
    committed: bool,
    operands: Sequence[Any],
    consts: Sequence[Any] = (),
) -> Any:
    """What C++ needs to repeat the call; None while anybody looks, and where an operand is copied
    to another layout first, or divided in another way. (C++ tells calls apart by the layouts and
    the shardings of arrays.)"""
    if watching() or ex.lays_out([*consts, *operands]) or ex.moves([*consts, *operands]):
        return None
    return ex.fast_path(out_tree, committed, operands, consts)


def look_at(found: Run) -> None:
    """Show a run to those that look."""
    for option, look in _watches:
        if option.value:
            look(found)
