"""Rules of ``remat.cost``: the work of operations that is not one flop for each element.

Of factorizations and solves to leading order (Golub & Van Loan).
"""

from __future__ import annotations

from math import log2, prod
from typing import Any

from dovetail_core import Primitive
from dovetail_remat import cost_rules

from ..primitives.condensed import hessenberg_p, ormqr_p, schur_p, tridiagonal_p
from ..primitives.contractions import conv_general_dilated_p, dot_general_p
from ..primitives.factorizations import (
    cholesky_p,
    geqrf_p,
    householder_product_p,
    lu_p,
    qr_p,
    triangular_solve_p,
)
from ..primitives.fft import fft_p
from ..primitives.gather import (
    scatter_add_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
)
from ..primitives.reductions import (
    argmax_p,
    argmin_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from ..primitives.shape import broadcast_in_dim_p, reshape_p, squeeze_p
from ..primitives.sorting import sort_p, top_k_p
from ..primitives.spectral import eig_p, eigh_p, svd_p
from ..primitives.tridiagonal import tridiagonal_solve_p
from ..primitives.updates import cholesky_update_p, symmetric_product_p
from ..primitives.values import copy_p, iota_p


@cost_rules.register(dot_general_p)
def _dot_cost(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """A multiplication and an addition per element of the result and contracted place."""
    (contracted, _), _ = dimension_numbers
    return 2.0 * outs[0].size * prod(ins[0].shape[i] for i in contracted)


@cost_rules.register(conv_general_dilated_p)
def _conv_cost(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """As a product: each output feature sums over the window and the features of its group."""
    _, kernel = ins
    features = kernel.shape[dimension_numbers.rhs_spec[0]]
    return 2.0 * outs[0].size * kernel.size / max(features, 1)


@cost_rules.register(fft_p)
def _fft_cost(ins: Any, outs: Any, /, *, fft_lengths: Any, **params: Any) -> float:
    """5 n log2(n), as is customary, for each transform."""
    n = max(prod(fft_lengths), 1)
    count = max(ins[0].size, outs[0].size) / n
    return 5.0 * count * n * max(log2(n), 1.0)


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


def _reading(ins: Any, outs: Any, /, **params: Any) -> float:
    """One operation for each element that is read."""
    return float(sum(a.size for a in ins))


def _sorting(ins: Any, outs: Any, /, *, dimension: int = -1, **params: Any) -> float:
    """n log2(n) comparisons along the axis."""
    total = sum(a.size for a in ins)
    n = ins[0].shape[dimension] if ins[0].shape else 1
    return total * max(log2(max(n, 2)), 1.0)


for _primitive in (
    argmax_p, argmin_p, reduce_and_p, reduce_max_p, reduce_min_p, reduce_or_p, reduce_p,
    reduce_prod_p, reduce_sum_p, reduce_xor_p, scatter_add_p, scatter_max_p, scatter_min_p,
    scatter_mul_p, scatter_p, scatter_sub_p,
):  # fmt: skip
    cost_rules.set(_primitive, _reading)
for _primitive in (sort_p, top_k_p):
    cost_rules.set(_primitive, _sorting)


def _free(ins: Any, outs: Any, /, **params: Any) -> float:
    return 0.0


for _primitive in (broadcast_in_dim_p, copy_p, iota_p, reshape_p, squeeze_p):
    cost_rules.set(_primitive, _free)
