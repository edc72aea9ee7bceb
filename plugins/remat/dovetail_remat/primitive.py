"""The rows ``remat`` (a call whose intermediate values are computed again) and ``name``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Form, Primitive, Region

remat_p = Primitive("remat", multiple_results=True)


@remat_p.def_effectful_abstract_eval
def _type(*avals: Any, program: ClosedJaxpr, **params: Any) -> Any:
    return program.out_avals, program.effects


@remat_p.def_form
def _form(params: dict[str, Any]) -> Form:
    program: ClosedJaxpr = params["program"]
    ins, outs = range(len(program.in_avals)), range(len(program.out_avals))

    def rebuild(
        programs: Sequence[ClosedJaxpr], widths: Sequence[int], out_widths: Sequence[int]
    ) -> dict[str, Any]:
        return {**params, "program": programs[0]}

    return Form((Region(program, tuple(ins), tuple(outs)),), rebuild)


name_p = Primitive("name")
"""The identity, which gives its operand a name that policies can refer to."""


@name_p.def_abstract_eval
def _name_type(x: Any, *, name: str) -> Any:
    return x


@name_p.def_decomposition
def _name(x: Any, *, name: str) -> Any:
    return x
