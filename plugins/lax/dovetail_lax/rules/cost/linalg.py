"""The work of factorizations and solves, to leading order (Golub & Van Loan)."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive
from dovetail_remat import cost_rules

from ...primitives.factorizations import (
    cholesky_p,
    householder_product_p,
    lu_p,
    qr_p,
    triangular_solve_p,
)
from ...primitives.spectral import eig_p, eigh_p, svd_p


def _cubic(primitive: Primitive, factor: float) -> None:
    """``factor * m * n * min(m, n)`` for each matrix."""

    @cost_rules.register(primitive)
    def cost(ins: Any, outs: Any, /, **params: Any) -> float:  # pyright: ignore[reportUnusedFunction]
        m, n = ins[0].shape[-2:]
        return factor * ins[0].size * min(m, n)


for _primitive, _factor in (
    (cholesky_p, 1 / 3), (lu_p, 2 / 3), (qr_p, 4 / 3), (householder_product_p, 4 / 3),
    (eigh_p, 9.0), (eig_p, 25.0), (svd_p, 20.0),
):  # fmt: skip
    _cubic(_primitive, _factor)


@cost_rules.register(triangular_solve_p)
def _solve_cost(ins: Any, outs: Any, /, **params: Any) -> float:
    return float(outs[0].size * ins[0].shape[-1])
