"""Transposition of gather and scatter."""

from __future__ import annotations

from typing import Any

from dovetail_ad import is_linear, transpose_rules, transposed_type
from dovetail_core import Primitive, here, typeof, zeros_like_aval

from ...primitives import gather as g
from ...primitives.arithmetic import mul_p, neg_p
from ...primitives.gather import as_scatter, kept_updates, reading
from ...primitives.indexing import GatherDimensionNumbers
from ...primitives.shape import Shape
from ...primitives.values import select_n_p


@transpose_rules.register(g.gather_p)
def _gather_transpose(
    ct: Any,
    operand: Any,
    indices: Any,
    *,
    dimension_numbers: GatherDimensionNumbers,
    slice_sizes: Shape,
    fill_value: Any,
    **params: Any,
) -> list[Any]:
    dn = as_scatter(dimension_numbers)
    back = g.scatter_add_p.bind(
        zeros_like_aval(operand.aval), indices, ct, dimension_numbers=dn, **params
    )
    return [back, None]


def _read(ct: Any, indices: Any, updates: Any, params: dict[str, Any]) -> Any:
    written: Any = typeof(ct)
    given: Any = typeof(updates)
    return g.gather_p.bind(ct, indices, **reading(written.shape, given.shape, params))


def _additive(primitive: Primitive) -> None:
    def rule(ct: Any, operand: Any, indices: Any, updates: Any, **params: Any) -> list[Any]:
        from_updates = None
        if is_linear(updates):
            from_updates = _read(ct, indices, updates, params)
            if primitive is g.scatter_sub_p:
                from_updates = neg_p.bind(from_updates)
        return [ct if is_linear(operand) else None, None, from_updates]

    transpose_rules.set(primitive, rule)


_additive(g.scatter_add_p)
_additive(g.scatter_sub_p)


@transpose_rules.register(g.scatter_p)
def _scatter_transpose(
    ct: Any, operand: Any, indices: Any, updates: Any, **params: Any
) -> list[Any]:
    given: Any = typeof(updates)
    from_operand = from_updates = None
    if is_linear(operand):
        from_operand = g.scatter_p.bind(
            ct, indices, zeros_like_aval(transposed_type(given)), **params
        )
    if is_linear(updates):
        from_updates = _read(ct, indices, updates, params)
        if not params["unique_indices"]:
            _, kept = kept_updates(typeof(ct).shape, indices, given.shape, params)  # type: ignore
            zero = given.dtype.type(0)
            from_updates = select_n_p.bind(kept, zero, from_updates)
    return [from_operand, None, from_updates]


@transpose_rules.register(g.scatter_mul_p)
def _scatter_mul_transpose(
    ct: Any, operand: Any, indices: Any, updates: Any, **params: Any
) -> list[Any]:
    if is_linear(operand):
        return [g.scatter_mul_p.bind(ct, indices, updates, **params), None, None]
    if not params["unique_indices"]:
        raise NotImplementedError(
            f"lax.scatter_mul is transposed in its updates only with unique_indices=True{here()}: "
            "pass it if no two windows overlap."
        )
    return [None, None, _read(mul_p.bind(ct, operand), indices, updates, params)]
