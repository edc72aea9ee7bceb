"""Costs of factorizations and solves, to leading order (Golub & Van Loan)."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive
from dovetail_remat import cost_rules

from ...primitives.condensed import hessenberg_p, ormqr_p, schur_p, tridiagonal_p
from ...primitives.factorizations import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    qr_p,
    triangular_solve_p,
)
from ...primitives.spectral import eig_p, eigh_p, svd_p
from ...primitives.tridiagonal import tridiagonal_solve_p
from ...primitives.updates import cholesky_update_p, symmetric_product_p


def _cubic(primitive: Primitive, factor: float) -> None:
    """``factor * m * n * min(m, n)`` for each matrix."""

    @cost_rules.register(primitive)
    def cost(ins: Any, outs: Any, /, **params: Any) -> float:  # pyright: ignore[reportUnusedFunction]
        m, n = ins[0].shape[-2:]
        return factor * ins[0].size * min(m, n)


for _primitive, _factor in (
    (cholesky_p, 1 / 3), (lu_p, 2 / 3), (qr_p, 4 / 3), (geqrf_p, 4 / 3),
    (householder_product_p, 4 / 3), (eigh_p, 9.0), (eig_p, 25.0), (svd_p, 20.0),
    (hessenberg_p, 10 / 3), (tridiagonal_p, 4 / 3), (schur_p, 25.0),
):  # fmt: skip
    _cubic(_primitive, _factor)


@cost_rules.register(triangular_solve_p)
def _solve_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    return float(outs[0].size * ins[0].shape[-1])


@cost_rules.register(ormqr_p)
def _ormqr_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    """A product with a vector and a change by a product of vectors for each reflection."""
    return 4.0 * outs[0].size * ins[1].shape[-1]


@cost_rules.register(tridiagonal_solve_p)
def _tridiagonal_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    return 3.0 * ins[1].size + 5.0 * outs[0].size


@cost_rules.register(cholesky_update_p)
def _update_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    return 3.0 * outs[0].size


@cost_rules.register(symmetric_product_p)
def _square_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    return 2.0 * outs[0].size * ins[0].shape[-1]
