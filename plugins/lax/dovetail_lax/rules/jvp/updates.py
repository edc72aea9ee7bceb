"""Derivatives of updated Cholesky factors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_ad import jvp_rules

from ...numerics.matrices import adjoint, matmul, on_diagonal, upper
from ...numerics.scaling import scaled_matrices, times
from ...primitives.arithmetic import add_p, mul_p
from ...primitives.moves import repeated
from ...primitives.updates import cholesky_update_p
from ...primitives.values import select_n_p
from ...scalars import scalar
from .factorizations import Pair, solve


@jvp_rules.register(cholesky_update_p)
def _cholesky_update(primals: Sequence[Any], tangents: Sequence[Any]) -> Pair:
    # From Sᵀ S = Rᵀ R + w wᵀ =: A: S⁻ᵀ dA S⁻¹ = dS S⁻¹ + (dS S⁻¹)ᵀ, of which the upper triangle,
    # with half of the diagonal, is dS S⁻¹.
    (r, w), (dr, dw) = primals, tangents
    result = cholesky_update_p.bind(r, w)
    unit, power = scaled_matrices(result)
    halves: list[Any] = []
    if dr is not None:
        halves.append(matmul(adjoint(upper(times(r, power))), upper(dr)))
    if dw is not None:
        last = len(w.shape)
        column = times(repeated(w, 1, last), power)
        halves.append(matmul(column, repeated(dw, 1, last - 1)))
    half = halves[0] if len(halves) == 1 else add_p.bind(*halves)
    change = add_p.bind(half, adjoint(half))
    middle = solve(unit, change, left=True, low=False, adjoint_a=True)
    middle = upper(solve(unit, middle, left=False, low=False))
    weighted = mul_p.bind(middle, scalar(0.5, middle.dtype))
    return result, matmul(select_n_p.bind(on_diagonal(middle), middle, weighted), unit)
