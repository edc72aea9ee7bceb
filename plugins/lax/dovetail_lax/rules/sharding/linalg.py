"""Matrices, the last two dimensions, whole on each device; dimensions before them divided."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive
from dovetail_sharding.types import Application, Parts, infer_rules, undivided_along

from ...primitives.condensed import hessenberg_p, ormqr_p, schur_p, tridiagonal_p
from ...primitives.factorizations import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    lu_pivots_to_permutation_p,
    qr_p,
    triangular_solve_p,
)
from ...primitives.polar import qdwh_p
from ...primitives.rotations import over_gaps_p, rotations_p
from ...primitives.spectral import eig_p, eigh_p, svd_p
from ...primitives.tridiagonal import tridiagonal_solve_p
from ...primitives.updates import cholesky_update_p, symmetric_product_p


def _batched(primitive: Primitive, *own: int) -> None:
    """Give its rule to a primitive whose operands have ``own`` dimensions behind the batch's."""

    def rule(app: Application, /, **params: Any) -> Any:
        batches: list[Any] = []
        for i, (parts, n) in enumerate(zip(app.all_parts, own)):
            cut = len(parts) - n
            undivided_along(app, range(cut, len(parts)), i)
            batches.append(parts[:cut])
        dims = range(len(batches[0]))
        batch = [app.merged(f"dimension {d}", [b[d] for b in batches]) for d in dims]
        result = [(*batch, *[None] * (a.ndim - len(batch)))[: a.ndim] for a in app.outs]
        return result if primitive.multiple_results else result[0]

    infer_rules.set(primitive, rule)


for _p in (cholesky_p, lu_p, qr_p, geqrf_p, eigh_p, eig_p, svd_p, hessenberg_p, schur_p,
           tridiagonal_p, qdwh_p):  # fmt: skip
    _batched(_p, 2)
_batched(symmetric_product_p, 2, 2)
_batched(rotations_p, 2, 2, 2)
_batched(over_gaps_p, 2, 2, 2)
_batched(lu_pivots_to_permutation_p, 1)
_batched(householder_product_p, 2, 1)
_batched(ormqr_p, 2, 1, 2)
_batched(cholesky_update_p, 2, 1)
_batched(tridiagonal_solve_p, 1, 1, 1, 2)


@infer_rules.register(triangular_solve_p)
def _triangular_solve(app: Application, /, *, left_side: bool, **params: Any) -> Parts:
    """Right-hand sides are independent of each other: devices may solve for some of them."""
    matrix, right = app.all_parts
    n = len(right)
    undivided_along(app, (n - 2, n - 1))
    undivided_along(app, (n - 2 if left_side else n - 1,), 1)
    batch = [app.merged(f"dimension {d}", [matrix[d], right[d]]) for d in range(n - 2)]
    return (*batch, *right[n - 2 :])
