"""Derivatives of gather and scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import Primitive, here, typeof, zeros_like_aval

from ...primitives.arithmetic import add_p, div_p, mul_p
from ...primitives.discrete import eq_p
from ...primitives.gather import (
    gather_p,
    kept_updates,
    reading,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from ...primitives.values import convert_element_type_p, select_n_p
from .kinds import fit
from .shape import filled


@jvp_rules.register(gather_p)
def _gather_jvp(
    primals: Sequence[Any], tangents: Sequence[Any], *, fill_value: Any, **params: Any
) -> tuple[Any, Any]:
    operand, indices = primals
    out = gather_p.bind(operand, indices, fill_value=fill_value, **params)
    zero = None if fill_value is None else 0
    return out, gather_p.bind(tangents[0], indices, fill_value=zero, **params)


Rule = tuple[Any, Any]


def _additive(primitive: Primitive) -> None:
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Rule:
        operand, indices, updates = primals
        out = primitive.bind(operand, indices, updates, **params)
        if tangents[2] is None:
            return out, tangents[0]
        return out, primitive.bind(filled(operand, tangents[0]), indices, tangents[2], **params)

    jvp_rules.set(primitive, rule)


_additive(scatter_add_p)
_additive(scatter_sub_p)


@jvp_rules.register(scatter_p)
def _scatter_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Rule:
    operand, indices, updates = primals
    d_operand, d_updates = filled(operand, tangents[0]), filled(updates, tangents[2])
    if params["unique_indices"]:
        out = scatter_p.bind(operand, indices, updates, **params)
        return out, scatter_p.bind(d_operand, indices, d_updates, **params)
    # Value and tangent must keep the same updates: find out which are kept, and add only those.
    hit, kept = kept_updates(_shape(operand), indices, _shape(updates), params)
    zero = _negative_zero(typeof(operand).dtype)  # type: ignore[attr-defined]

    def put(x: Any, y: Any) -> Any:
        cleared = select_n_p.bind(hit, x, zero)
        return scatter_add_p.bind(cleared, indices, select_n_p.bind(kept, zero, y), **params)

    out = put(operand, updates)
    return out, fit(put(d_operand, d_updates), out)


def _shape(x: Any) -> tuple[int, ...]:
    return typeof(x).shape  # type: ignore[attr-defined]


def _negative_zero(dtype: Any) -> Any:
    """The neutral element of addition: -0.0 + x is x for every x, -0.0 itself included."""
    return dtype.type(complex(-0.0, -0.0)) if dtype.kind == "c" else dtype.type(-0.0)


@jvp_rules.register(scatter_mul_p)
def _scatter_mul_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Rule:
    operand, indices, updates = primals
    d_operand, _, d_updates = tangents
    out = scatter_mul_p.bind(operand, indices, updates, **params)
    total = None
    if d_operand is not None:
        total = scatter_mul_p.bind(d_operand, indices, updates, **params)
    if d_updates is not None:
        if not params["unique_indices"]:
            raise NotImplementedError(
                "lax.scatter_mul is differentiated in its updates only with unique_indices=True"
                f"{here()}: pass it if no two windows overlap, or multiply by each update "
                "separately."
            )
        spread = scatter_add_p.bind(zeros_like_aval(typeof(operand)), indices, d_updates, **params)
        part = mul_p.bind(operand, spread)
        total = part if total is None else add_p.bind(total, part)
    return out, fit(total, out)


def _extremum(primitive: Primitive) -> None:
    # The derivative goes in equal parts to all that attain the extremum, operand and updates.
    def rule(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Rule:
        operand, indices, updates = primals
        out = primitive.bind(operand, indices, updates, **params)
        read = reading(_shape(operand), _shape(updates), params)
        from_operand = _mask(operand, out)
        from_updates = _mask(updates, gather_p.bind(out, indices, **read))
        count = scatter_add_p.bind(from_operand, indices, from_updates, **params)
        shares = scatter_add_p.bind(
            mul_p.bind(filled(operand, tangents[0]), from_operand),
            indices,
            mul_p.bind(filled(updates, tangents[2]), from_updates),
            **params,
        )
        return out, fit(div_p.bind(shares, count), out)

    jvp_rules.set(primitive, rule)


def _mask(x: Any, y: Any) -> Any:
    """1 where ``x == y``, else 0."""
    dtype = typeof(x).dtype  # type: ignore[attr-defined]
    return convert_element_type_p.bind(eq_p.bind(x, y), new_dtype=dtype, weak_type=False)


_extremum(scatter_min_p)
_extremum(scatter_max_p)


@jvp_rules.register(scatter_apply_p)
def _scatter_apply_jvp(primals: Sequence[Any], tangents: Sequence[Any], **params: Any) -> Rule:
    raise NotImplementedError(
        f"lax.scatter_apply is differentiated only with unique_indices=True{here()}: pass it if "
        "no two windows overlap, or apply the function to the array before indexing."
    )
