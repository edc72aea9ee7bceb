"""The primitive ``jit``: a call of a program as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface

jit_p = Primitive("jit", multiple_results=True)
jit_p.def_traits(
    parameters={
        "program": "program of the function",
        "name": "its name",
        "donated": "which operands it may overwrite",
    }
)


@jit_p.def_effectful_abstract_eval
def _type(*avals: Any, program: ClosedJaxpr, name: str, donated: tuple[bool, ...]) -> Any:
    return program.out_avals, program.effects


@jit_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        # A donated operand that has grown a companion stays donated, with its companion.
        before = params["donated"]
        donated = tuple(x.origin is not None and before[x.origin] for x in operands)
        return {"program": program, "name": params["name"], "donated": donated}

    return call_interface(params["program"], rebuild)


def call_program(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
    """Bind ``jit`` for a program without constants of its own."""
    return jit_p.bind(*args, program=program, name=name, donated=(False,) * len(args))
