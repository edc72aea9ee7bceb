"""Linear algebra over a mapped axis, which becomes the first batch axis."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dovetail_batching import batch_rules
from dovetail_core import Primitive

from ...primitives import condensed as k, factorizations as f, spectral as e
from ...primitives.moves import moved, reshaped
from ...primitives.polar import qdwh_p
from .axes import first


def _leading(primitive: Primitive) -> None:
    def rule(
        axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
    ) -> tuple[Any, Any]:
        operands = [first(x, d, axis.size) for x, d in zip(args, dims)]
        out = primitive.bind(*operands, **params)
        return out, [0] * len(out) if primitive.multiple_results else 0

    batch_rules.set(primitive, rule)


for _primitive in (
    f.cholesky_p, f.lu_p, f.lu_pivots_to_permutation_p, f.qr_p, f.geqrf_p, f.householder_product_p,
    e.eigh_p, e.eig_p, e.svd_p, k.hessenberg_p, k.tridiagonal_p, k.schur_p, k.ormqr_p,
    f.cholesky_update_p, f.symmetric_product_p, e.over_gaps_p, e.rotations_p,
):  # fmt: skip
    _leading(_primitive)


@batch_rules.register(f.triangular_solve_p)
def _triangular_solve(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], *, left_side: bool, **params: Any
) -> tuple[Any, int]:
    (a, b), (dim_a, dim_b) = args, dims
    if dim_a is None and dim_b is not None and axis.size:
        # One matrix for all: the mapped axis becomes part of the axis of right-hand sides.
        position = len(b.shape) - (1 if left_side else 2)
        b = moved(b, dim_b, position)
        shape: tuple[int, ...] = b.shape
        count = shape[position - 1] * shape[position]
        wide = reshaped(b, (*shape[: position - 1], count, *shape[position + 1 :]))
        out = f.triangular_solve_p.bind(a, wide, left_side=left_side, **params)
        return reshaped(out, shape), position
    operands = [first(a, dim_a, axis.size), first(b, dim_b, axis.size)]
    return f.triangular_solve_p.bind(*operands, left_side=left_side, **params), 0


@batch_rules.register(k.tridiagonal_solve_p)
def _tridiagonal_solve(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, int]:
    if all(d is None for d in dims[:3]) and axis.size:
        # One matrix for all: the mapped axis becomes part of the axis of right sides.
        *diagonals, b = args
        position = len(b.shape) - 2
        b = moved(b, dims[3] or 0, position)
        shape: tuple[int, ...] = b.shape
        wide = reshaped(b, (*shape[:position], shape[position] * shape[position + 1]))
        return reshaped(k.tridiagonal_solve_p.bind(*diagonals, wide, **params), shape), position
    operands = [first(x, d, axis.size) for x, d in zip(args, dims)]
    return k.tridiagonal_solve_p.bind(*operands, **params), 0


@batch_rules.register(qdwh_p)
def _qdwh(
    axis: Any, args: Sequence[Any], dims: Sequence[int | None], **params: Any
) -> tuple[Any, Any]:
    # All matrices make as many iterations as the slowest, so that there is one number of them.
    return qdwh_p.bind(first(args[0], dims[0], axis.size), **params), [0, None, 0]
