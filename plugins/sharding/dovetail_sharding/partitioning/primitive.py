"""The primitive of functions that say how they are divided."""

from __future__ import annotations

from typing import Any

from dovetail_core import ClosedJaxpr, Primitive, eval_jaxpr

custom_partitioning_p = Primitive("custom_partitioning", multiple_results=True)
custom_partitioning_p.def_traits(
    parameters={
        "call": "program of the function",
        "partition": "how it is divided",
        "mapped": "for each vmap which operands and results have its axis",
    },
)


@custom_partitioning_p.def_abstract_eval
def _type(*avals: Any, call: ClosedJaxpr, **params: Any) -> Any:
    return list(call.out_avals)


@custom_partitioning_p.def_decomposition
def _value(*operands: Any, call: ClosedJaxpr, **params: Any) -> Any:
    """What the function is on one device."""
    return eval_jaxpr(call.jaxpr, call.consts, *operands)
