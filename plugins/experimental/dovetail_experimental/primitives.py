"""Primitives that say something about values and calls to XLA, and compute nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_core import (
    ClosedJaxpr,
    Operand,
    Primitive,
    RegionInterface,
    call_interface,
    def_impl,
    jaxpr_as_fun,
)

xla_metadata_value_p = Primitive("experimental.xla_metadata_value")
"""``x``, the operation that made it having attributes: pairs of strings."""

xla_metadata_call_p = Primitive("experimental.xla_metadata_call", multiple_results=True)
"""The call of a program, having attributes: pairs of strings."""

layout_constraint_p = Primitive("experimental.layout_constraint")
"""``x``, whose elements lie in memory in a given order of its axes."""

layout_constraint_p.def_traits(
    linear=((0,),), parameters={"major_to_minor": "the axes from the slowest to the fastest"}
)
xla_metadata_value_p.def_traits(parameters={"attributes": "pairs of a name and a string"})
xla_metadata_call_p.def_traits(
    parameters={"program": "program of the function", "attributes": "pairs of a name and a string"}
)


@xla_metadata_value_p.def_abstract_eval
def _value_type(x: Any, *, attributes: tuple[tuple[str, str], ...]) -> Any:
    return x


@def_impl(xla_metadata_value_p)
def _value(x: Any, *, attributes: Any) -> Any:
    return x  # there is no operation any more


@layout_constraint_p.def_abstract_eval
def _layout_type(x: Any, *, major_to_minor: tuple[int, ...]) -> Any:
    if sorted(major_to_minor) != list(range(x.ndim)):
        raise TypeError(
            f"{layout_constraint_p.name} takes an order of the axes of {x.str_short()}, got "
            f"major_to_minor={major_to_minor}: each axis once, from the slowest to the fastest."
        )
    return x


@xla_metadata_call_p.def_effectful_abstract_eval
def _call_type(*avals: Any, program: ClosedJaxpr, attributes: tuple[tuple[str, str], ...]) -> Any:
    return program.out_avals, program.effects


@xla_metadata_call_p.def_regions
def _regions(params: dict[str, Any]) -> RegionInterface:
    def rebuild(program: ClosedJaxpr, operands: Sequence[Operand]) -> dict[str, Any]:
        return {"program": program, "attributes": params["attributes"]}

    return call_interface(params["program"], rebuild)


@def_impl(xla_metadata_call_p)
def _call(*args: Any, program: ClosedJaxpr, attributes: Any) -> Any:
    return jaxpr_as_fun(program)(*args)
