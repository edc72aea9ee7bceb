"""Differentiation of complex parts, choices, conversions, copies, barriers and ``taken``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules
from dovetail_core import is_inexact

from ...primitives.discrete import and_p, gt_p, lt_p
from ...primitives.rng import rng_bit_generator_p, rng_uniform_p
from ...primitives.taken import Positions, bind_taken, taken_p, zero_other_cases, zeroed_operands
from ...primitives.values import (
    bitcast_convert_type_p,
    clamp_p,
    complex_p,
    conj_p,
    convert_element_type_p,
    copy_p,
    imag_p,
    optimization_barrier_p,
    real_p,
    select_n_p,
    stop_gradient_p,
)
from ...scalars import scalar
from .kinds import fit, linear, nary, zero

linear(real_p)
linear(imag_p)
linear(conj_p)


@jvp_rules.register(complex_p)
def _complex(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    out = complex_p.bind(*primals)
    zero = scalar(0.0, _dtype(tangents))
    dx, dy = (zero if t is None else t for t in tangents)
    return out, fit(complex_p.bind(dx, dy), out)


def _dtype(tangents: Sequence[Any]) -> Any:
    return next(t.dtype for t in tangents if t is not None)


@jvp_rules.register(select_n_p)
def _select_n(primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    which, *_ = primals
    out = select_n_p.bind(*primals)
    zero = scalar(0.0, out.dtype)
    chosen = select_n_p.bind(which, *[zero if t is None else t for t in tangents[1:]])
    return out, fit(chosen, out)


def _where(pred: Any, t: Any, out: Any) -> Any:
    return select_n_p.bind(pred, scalar(0.0, out.dtype), t)


# On a bound the derivative in x is 0, and that in the bound as well.
nary(
    clamp_p,
    lambda t, out, low, x, high: _where(gt_p.bind(low, x), t, out),
    lambda t, out, low, x, high: _where(and_p.bind(gt_p.bind(x, low), lt_p.bind(x, high)), t, out),
    lambda t, out, low, x, high: _where(lt_p.bind(high, x), t, out),
)


@jvp_rules.register(convert_element_type_p)
def _convert(
    primals: Sequence[Any], tangents: Sequence[Any], *, new_dtype: Any, weak_type: bool = False
) -> tuple[Any, Any]:
    (x,), (t,) = primals, tangents
    out = convert_element_type_p.bind(x, new_dtype=new_dtype, weak_type=weak_type)
    if not is_inexact(new_dtype):
        return out, None
    return out, convert_element_type_p.bind(t, new_dtype=new_dtype, weak_type=False)


zero(bitcast_convert_type_p)


linear(copy_p)
zero(stop_gradient_p)
zero(rng_bit_generator_p)
zero(rng_uniform_p)


@jvp_rules.register(optimization_barrier_p)
def _optimization_barrier(
    primals: Sequence[Any], tangents: Sequence[Any]
) -> tuple[list[Any], list[Any]]:
    outs = optimization_barrier_p.bind(*primals)
    nonzero = [t for t in tangents if t is not None]
    moved = iter(optimization_barrier_p.bind(*nonzero))
    return outs, [None if t is None else next(moved) for t in tangents]


@jvp_rules.register(taken_p)
def _taken(
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    case: int,
    positions: Positions,
    zeroed: bool,
) -> tuple[list[Any], list[Any]]:
    index, *operands = primals
    params: dict[str, Any] = {"case": case, "positions": positions, "zeroed": zeroed}
    outs = bind_taken(index, zeroed_operands(index, operands, **params), **params)
    return outs, [
        None if t is None else zero_other_cases(index, case, at, t)
        for t, at in zip(tangents[1:], positions)
    ]
