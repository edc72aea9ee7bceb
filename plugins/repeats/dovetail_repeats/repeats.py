"""The pass ``repeats``, its option, and the sizes from which it applies.

Most programs are too small for it: they do not import the transformation.
"""

from __future__ import annotations

from dovetail_base.options import as_bool
from dovetail_core import ClosedJaxpr, Eqn, Option, Pass, config

compile_repeats_once = config.add(
    Option(
        "compile_repeats_once",
        True,
        "Large parts that repeat in a program, as the layers of a model, are compiled once, as "
        "functions.",
        check=as_bool,
        traced=True,
    )
)

LENGTH = 32
"""The least number of equations of an instance: short ones XLA recognises itself after fusion."""
SAVED = 192
"""The least number of equations that need not be compiled."""


def run(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with large repeated parts replaced by calls, if it is large."""
    if not compile_repeats_once.value or _size(program) < LENGTH + SAVED:
        return program
    from .outlining import outlined

    return outlined(program)


def _size(program: ClosedJaxpr) -> int:
    """The number of equations, with those of each region for each equation that has it."""

    def count() -> int:
        return len(program.eqns) + sum([_size(p) for e in program.eqns for p in _programs(e)])

    return program.memo("equations with regions", count)


def _programs(eqn: Eqn) -> list[ClosedJaxpr]:
    if eqn.primitive.regions is None or eqn.primitive.anonymous:
        return []
    interface = eqn.primitive.regions(eqn.params)
    return [] if interface is None else [r.program for r in interface.regions]


REPEATS = Pass("repeats", "ir", run, after=("discharge",), platforms=("cpu",), divides=False)
"""The pass, which runs before a program is lowered."""
