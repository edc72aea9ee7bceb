"""The primitive ``jit``: a call of a program as one operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Form, Primitive, Region

jit_p = Primitive("jit", multiple_results=True)


@jit_p.def_effectful_abstract_eval
def _type(*avals: Any, program: ClosedJaxpr, name: str, donated: tuple[bool, ...]) -> Any:
    return program.out_avals, program.effects


@jit_p.def_form
def _form(params: dict[str, Any]) -> Form:
    program: ClosedJaxpr = params["program"]
    ins, outs = len(program.in_avals), len(program.out_avals)

    def rebuild(
        programs: Sequence[ClosedJaxpr], widths: Sequence[int], out_widths: Sequence[int]
    ) -> dict[str, Any]:
        # A donated operand that has grown a companion stays donated, with its companion.
        donated = tuple(d for d, n in zip(params["donated"], widths) for _ in range(n))
        return {"program": programs[0], "name": params["name"], "donated": donated}

    return Form((Region(program, tuple(range(ins)), tuple(range(outs))),), rebuild)


def call_program(program: ClosedJaxpr, name: str, args: Sequence[Any]) -> list[Any]:
    """Bind ``jit`` for a program without constants of its own."""
    return jit_p.bind(*args, program=program, name=name, donated=(False,) * len(args))
