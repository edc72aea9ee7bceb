"""Primitives that return their operands: copies, barriers, and the end of differentiation."""

from __future__ import annotations

from typing import Any

from dovetail_core import AbstractValue, Primitive

copy_p = Primitive("copy")
"""The operand in memory of its own."""

stop_gradient_p = Primitive("stop_gradient")
"""The operand; its derivative is zero."""

optimization_barrier_p = Primitive("optimization_barrier", multiple_results=True)
"""The operands; compilers move nothing across."""


def _same(x: AbstractValue) -> AbstractValue:
    return x


copy_p.def_abstract_eval(_same)
stop_gradient_p.def_abstract_eval(_same)


@optimization_barrier_p.def_abstract_eval
def _optimization_barrier(*operands: AbstractValue) -> list[AbstractValue]:
    return list(operands)


@stop_gradient_p.def_decomposition
def _stop_gradient(x: Any) -> Any:
    return x
