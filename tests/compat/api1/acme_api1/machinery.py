"""An option, a pass that it turns on, a provider, a backend, and a command."""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax
from dovetail_core import Option, Pass, config, eval_jaxpr, interpret, stage_closed

help = "what the ledger has"
LEDGER: list[float] = []


def configure(parser):
    parser.add_argument("--zero", action="store_true")


def run(args):
    print("ledger:", LEDGER)
    return 0


def _as_bool(value):
    if value not in (True, False, "0", "1"):
        raise ValueError(f"expected a boolean, got {value!r}")
    return value in (True, "1")


api1_sines = config.add(
    Option("api1_sines", False, "Sines are cosines.", check=_as_bool, traced=True)
)


def _sines(program):
    if not api1_sines.value:
        return program

    def visit(eqn, args):
        return [lax.cos(*args)] if eqn.primitive is lax.sin_p else NotImplemented

    return stage_closed(
        lambda *xs: interpret(program, xs, visit), program.in_avals, program.jaxpr.name
    )


PASS = Pass("api1.sines", "ir", _sines, before=(), after=("discharge",))


class Whole:
    """A backend that evaluates a program operation by operation."""

    platform = "api1"
    priority = -1

    def problem(self) -> str:
        return ""

    def devices(self) -> list[Any]:
        return []

    local_devices = devices

    def run(self, program, args):
        return eval_jaxpr(program.jaxpr, program.consts, *args)


BACKEND = Whole()
