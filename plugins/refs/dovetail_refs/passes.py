"""The pass that discharges references which are made inside of a program, before it is lowered."""

from __future__ import annotations

from dovetail_core import ClosedJaxpr, Pass

from .discharging import discharge_program


def _run(program: ClosedJaxpr) -> ClosedJaxpr:
    return discharge_program(program, (False,) * len(program.in_avals)).program


DISCHARGE = Pass("discharge", "ir", _run)
