"""Batching of elementwise operations, of changes of type, and of barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives import arithmetic, discrete, transcendental, values
from ...primitives.values import bitcast_convert_type_p, dce_sink_p, optimization_barrier_p
from .axes import aligned, first


def elementwise(primitive: Primitive) -> None:
    """Add the rule of an operation that treats all elements alike."""

    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, Any]:
        if len(args) == 1:
            return primitive.bind(args[0], **params), dims[0]
        if len(args) == 2:
            (x, y), (dim_x, dim_y) = args, dims
            if dim_x == dim_y:
                if len(x.shape) == len(y.shape):
                    return primitive.bind(x, y, **params), dim_x
            elif dim_y is None and not getattr(y, "shape", None):
                return primitive.bind(x, y, **params), dim_x
            elif dim_x is None and not getattr(x, "shape", None):
                return primitive.bind(x, y, **params), dim_y
        args, dim = aligned(axis.size, args, dims)
        return primitive.bind(*args, **params), dim

    batch_rules.set(primitive, rule)


for _family in (arithmetic, discrete, transcendental):
    for _name, _primitive in vars(_family).items():
        if _name.endswith("_p"):
            elementwise(_primitive)

for _primitive in (
    values.real_p,
    values.imag_p,
    values.complex_p,
    values.conj_p,
    values.select_n_p,
    values.clamp_p,
    values.convert_element_type_p,
    values.copy_p,
    values.stop_gradient_p,
):
    elementwise(_primitive)


@batch_rules.register(bitcast_convert_type_p)
def _bitcast(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, new_dtype: Any
) -> tuple[Any, int]:
    x = first(args[0], dims[0], axis.size)
    return bitcast_convert_type_p.bind(x, new_dtype=new_dtype), 0


@batch_rules.register(dce_sink_p)
def _dce_sink(axis: Any, args: Any, dims: Any, *, prevent_mlir_dce: bool) -> Any:
    return dce_sink_p.bind(*args, prevent_mlir_dce=prevent_mlir_dce), []


@batch_rules.register(optimization_barrier_p)
def _optimization_barrier(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None]
) -> tuple[list[Any], Sequence[int | None]]:
    return optimization_barrier_p.bind(*args), dims
