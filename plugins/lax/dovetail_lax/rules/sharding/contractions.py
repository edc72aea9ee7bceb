"""Products of matrices, convolutions and linear algebra."""

from __future__ import annotations

from typing import Any

from dovetail_core import Primitive
from dovetail_sharding.types import (
    Application,
    Parts,
    ask_for_out_sharding,
    axes_of,
    infer_rules,
    undivided_along,
)

from ...primitives import condensed as k, factorizations as f, spectral as e
from ...primitives.contractions import (
    ConvDimensionNumbers,
    conv_general_dilated_p,
    dot_general_p,
    left_axes,
)
from ...primitives.polar import qdwh_p

REMEDY = ask_for_out_sharding("dot_general(..., out_sharding=...), or that of matmul and einsum")


@infer_rules.register(dot_general_p)
def _dot_general(app: Application, /, *, dimension_numbers: Any, **params: Any) -> Parts:
    (contract_l, contract_r), (batch_l, batch_r) = dimension_numbers
    lhs, rhs = app.all_parts
    summed: list[Any] = []
    for i, j in zip(contract_l, contract_r):
        own = app.merged(f"the contracted dimension {i}", [lhs[i], rhs[j]])
        summed += axes_of(own) if lhs[i] == rhs[j] else ()
    batch = [
        app.merged(f"the batch dimension {i}", [lhs[i], rhs[j]]) for i, j in zip(batch_l, batch_r)
    ]
    result = (
        *batch,
        *[lhs[i] for i in left_axes(len(lhs), contract_l, batch_l)],
        *[rhs[i] for i in left_axes(len(rhs), contract_r, batch_r)],
    )
    used = [a for p in result for a in axes_of(p)]
    for a in used:
        if used.count(a) > 1:
            app.refuse(f"its result would be divided twice along the axis {a!r}", REMEDY)
    if summed:
        app.refuse(
            f"both operands are divided along {summed} where they are contracted, so that the "
            "result is a sum over devices, which may end up on all of them or be divided",
            REMEDY,
            summed,
            result,
        )
    return result


@infer_rules.register(conv_general_dilated_p)
def _conv(
    app: Application, /, *, dimension_numbers: ConvDimensionNumbers, feature_group_count: int,
    batch_group_count: int, window_strides: tuple[int, ...], lhs_dilation: tuple[int, ...],
    rhs_dilation: tuple[int, ...], **params: Any,
) -> Parts:  # fmt: skip
    lhs, rhs = app.all_parts
    lhs_spec, rhs_spec, out_spec = dimension_numbers
    kernel = [rhs[i] for i in rhs_spec[1:]]
    features = lhs[lhs_spec[1]]
    if features is not None or any(p is not None for p in kernel):
        app.refuse(
            "features that are summed over, or windows, are divided",
            ask_for_out_sharding("conv_general_dilated(..., out_sharding=...)"),
        )
    # XLA's partitioner ends the process where what is divided is dilated, here or in derivatives.
    spread = zip(lhs_spec[2:], window_strides, lhs_dilation, rhs_dilation)
    undivided_along(app, [d for d, *steps in spread if max(steps) > 1])
    if batch_group_count > 1:
        undivided_along(app, [lhs_spec[0]])
    result: list[Any] = [None] * len(out_spec)
    result[out_spec[0]], result[out_spec[1]] = lhs[lhs_spec[0]], rhs[rhs_spec[0]]
    for i, j in zip(lhs_spec[2:], out_spec[2:]):
        result[j] = lhs[i]
    return tuple(result)


def _batched(primitive: Primitive, *own: int) -> None:
    """Give its rule to a primitive whose operands have ``own`` dimensions after the batch's."""

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


for _p in (
    f.cholesky_p, f.lu_p, f.qr_p, f.geqrf_p, e.eigh_p, e.eig_p, e.svd_p, k.hessenberg_p,
    k.schur_p, k.tridiagonal_p, qdwh_p,
):  # fmt: skip
    _batched(_p, 2)
_batched(f.symmetric_product_p, 2, 2)
_batched(e.rotations_p, 2, 2, 2)
_batched(e.over_gaps_p, 2, 2, 2)
_batched(f.lu_pivots_to_permutation_p, 1)
_batched(f.householder_product_p, 2, 1)
_batched(k.ormqr_p, 2, 1, 2)
_batched(f.cholesky_update_p, 2, 1)
_batched(k.tridiagonal_solve_p, 1, 1, 1, 2)


@infer_rules.register(f.triangular_solve_p)
def _triangular_solve(app: Application, /, *, left_side: bool, **params: Any) -> Parts:
    """Right-hand sides are independent of each other: devices may solve for some of them."""
    matrix, right = app.all_parts
    n = len(right)
    undivided_along(app, (n - 2, n - 1))
    undivided_along(app, (n - 2 if left_side else n - 1,), 1)
    batch = [app.merged(f"dimension {d}", [matrix[d], right[d]]) for d in range(n - 2)]
    return (*batch, *right[n - 2 :])
