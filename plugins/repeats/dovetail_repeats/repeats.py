"""The pass ``repeats``. Most programs are too small for it, and do not import its code."""

from __future__ import annotations

from dovetail_core import ClosedJaxpr, Eqn, Pass

from .options import LENGTH, SAVED, compile_repeats_once


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
