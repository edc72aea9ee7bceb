"""Lowering of contractions."""

from __future__ import annotations

from functools import cache
from typing import Any

from dovetail_backends import stablehlo_rules
from dovetail_backends.pjrt import element_type

from ...dtypes import promote_types
from ...primitives.dot import DotAlgorithm, dot_general_p


@stablehlo_rules.register(dot_general_p)
def _dot_general(
    b: Any,
    lhs: Any,
    rhs: Any,
    *,
    dimension_numbers: Any,
    precision: Any,
    preferred_element_type: Any,
) -> Any:
    out = b.out
    if lhs.aval.dtype != rhs.aval.dtype:  # no backend multiplies unequal types everywhere
        dtype = promote_types(lhs.aval.dtype, rhs.aval.dtype)
        lhs, rhs = b.convert(lhs, dtype), b.convert(rhs, dtype)
        attrs = _attrs(dimension_numbers, precision)
        found = b.op("stablehlo.dot_general", [lhs, rhs], out.update(dtype=dtype), attrs)
        return b.convert(found, out.dtype)
    return b.op("stablehlo.dot_general", [lhs, rhs], out, _attrs(dimension_numbers, precision))


@cache
def _attrs(dimension_numbers: Any, precision: Any) -> str:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    numbers = (
        f"dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = {list(batch_l)}, "
        f"rhs_batching_dimensions = {list(batch_r)}, "
        f"lhs_contracting_dimensions = {list(contract_l)}, "
        f"rhs_contracting_dimensions = {list(contract_r)}>"
    )
    if isinstance(precision, DotAlgorithm):
        return f"{numbers}, algorithm = {_algorithm(precision)}"
    return f"{numbers}, {precision_config(precision)}"


def precision_config(precision: Any) -> str:
    """The attribute for the precisions of both operands."""
    names = ("DEFAULT", "DEFAULT") if precision is None else [p.name for p in precision]
    return f"precision_config = [{', '.join(f'#stablehlo<precision {n}>' for n in names)}]"


def _algorithm(a: DotAlgorithm) -> str:
    import numpy as np

    lhs, rhs, total = (
        element_type(np.dtype(t))
        for t in (a.lhs_precision_type, a.rhs_precision_type, a.accumulation_type)
    )
    loose = "true" if a.allow_imprecise_accumulation else "false"
    return (
        f"#stablehlo.dot_algorithm<lhs_precision_type = {lhs}, rhs_precision_type = {rhs}, "
        f"accumulation_type = {total}, lhs_component_count = {a.lhs_component_count}, "
        f"rhs_component_count = {a.rhs_component_count}, "
        f"num_primitive_operations = {a.num_primitive_operations}, "
        f"allow_imprecise_accumulation = {loose}>"
    )
