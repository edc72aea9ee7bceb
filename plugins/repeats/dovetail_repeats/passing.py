"""The pass ``repeats``, for which most programs are too small: they do not import what it does."""

from __future__ import annotations

from dovetail_core import ClosedJaxpr, Eqn, Pass

from .settings import LENGTH, SAVED, compile_repeats_once


def run(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program with calls in place of large parts that repeat, if it is large at all."""
    if not compile_repeats_once.value or _size(program) < LENGTH + SAVED:
        return program
    from .outlining import outlined

    return outlined(program)


def _size(program: ClosedJaxpr) -> int:
    """How many equations there are, with those of each region at each place that it stands in."""

    def count() -> int:
        return len(program.eqns) + sum([_size(p) for e in program.eqns for p in _programs(e)])

    return program.memo("equations with regions", count)


def _programs(eqn: Eqn) -> list[ClosedJaxpr]:
    if eqn.primitive.regions is None or eqn.primitive.anonymous:
        return []
    interface = eqn.primitive.regions(eqn.params)
    return [] if interface is None else [r.program for r in interface.regions]


REPEATS = Pass("repeats", "ir", run, after=("discharge",), platforms=("cpu",), divides=False)
"""Runs before a program is lowered."""
