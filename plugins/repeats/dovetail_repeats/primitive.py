"""The primitive ``repeated``: a call of a program that has several such calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import ClosedJaxpr, Operand, Primitive, RegionInterface, call_interface

repeated_p = Primitive("repeated", multiple_results=True)
repeated_p.def_traits(parameters={"jaxpr": "the repeated program"})
"""``repeated(*operands, jaxpr)``: bound by the pass, before a program is lowered."""


@repeated_p.def_effectful_abstract_eval
def _type(*avals: Any, jaxpr: ClosedJaxpr) -> Any:
    return jaxpr.out_avals, jaxpr.effects


@repeated_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        return {"jaxpr": program}

    return call_interface(params["jaxpr"], rebuild)
