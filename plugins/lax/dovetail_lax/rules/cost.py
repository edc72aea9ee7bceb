"""Rules of ``remat.cost``: operations of primitives that do not compute one for each element."""

from __future__ import annotations

from math import log2, prod
from typing import Any

from dovetail_core import Primitive
from dovetail_cost import cost_rules

from ..primitives import (
    condensed as c,
    factorizations as f,
    gather as g,
    reductions as r,
    shape as s,
    spectral as e,
    values as v,
)
from ..primitives.contractions import conv_general_dilated_p, dot_general_p
from ..primitives.fft import fft_p
from ..primitives.sorting import sort_p, top_k_p


def _free(ins: Any, outs: Any, /, **params: Any) -> float:
    """No operation."""
    return 0.0


for _p in (s.broadcast_in_dim_p, s.reshape_p, s.squeeze_p, v.copy_p, v.iota_p):
    cost_rules.set(_p, _free)


def _reading(ins: Any, outs: Any, /, **params: Any) -> float:
    """One operation for each element that is read."""
    return float(sum(a.size for a in ins))


for _p in (
    r.argmax_p, r.argmin_p, r.reduce_and_p, r.reduce_max_p, r.reduce_min_p, r.reduce_or_p,
    r.reduce_p, r.reduce_prod_p, r.reduce_sum_p, r.reduce_xor_p, g.scatter_add_p, g.scatter_max_p,
    g.scatter_min_p, g.scatter_mul_p, g.scatter_p, g.scatter_sub_p,
):  # fmt: skip
    cost_rules.set(_p, _reading)


def _sorting(ins: Any, outs: Any, /, *, dimension: int = -1, **params: Any) -> float:
    """n log2(n) comparisons along the axis."""
    total = sum(a.size for a in ins)
    n = ins[0].shape[dimension] if ins[0].shape else 1
    return total * max(log2(max(n, 2)), 1.0)


for _p in (sort_p, top_k_p):
    cost_rules.set(_p, _sorting)


@cost_rules.register(dot_general_p)
def _dot(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """A multiplication and an addition for each element of the result and contracted index."""
    (contracted, _), _ = dimension_numbers
    return 2.0 * outs[0].size * prod(ins[0].shape[i] for i in contracted)


@cost_rules.register(conv_general_dilated_p)
def _conv(ins: Any, outs: Any, /, *, dimension_numbers: Any, **params: Any) -> float:
    """As of a product: each output feature sums over the window and the features of its group."""
    _, kernel = ins
    features = kernel.shape[dimension_numbers.rhs_spec[0]]
    return 2.0 * outs[0].size * kernel.size / max(features, 1)


@cost_rules.register(fft_p)
def _fft(ins: Any, outs: Any, /, *, fft_lengths: Any, **params: Any) -> float:
    """5 n log2(n), as is customary, for each transform."""
    n = max(prod(fft_lengths), 1)
    count = max(ins[0].size, outs[0].size) / n
    return 5.0 * count * n * max(log2(n), 1.0)


# Factorizations and solves to leading order (Golub & Van Loan).


def _cubic(primitive: Primitive, factor: float) -> None:
    """``factor * m * n * min(m, n)`` for each matrix."""

    @cost_rules.register(primitive)
    def cost(ins: Any, outs: Any, /, **params: Any) -> float:  # pyright: ignore[reportUnusedFunction]
        m, n = ins[0].shape[-2:]
        return factor * ins[0].size * min(m, n)


for _p, _factor in (
    (f.cholesky_p, 1 / 3), (f.lu_p, 2 / 3), (f.qr_p, 4 / 3), (f.geqrf_p, 4 / 3),
    (f.householder_product_p, 4 / 3), (e.eigh_p, 9.0), (e.eig_p, 25.0), (e.svd_p, 20.0),
    (c.hessenberg_p, 10 / 3), (c.tridiagonal_p, 4 / 3), (c.schur_p, 25.0),
):  # fmt: skip
    _cubic(_p, _factor)


@cost_rules.register(f.triangular_solve_p)
def _solve(ins: Any, outs: Any, /, **params: Any) -> float:
    return float(outs[0].size * ins[0].shape[-1])


@cost_rules.register(c.ormqr_p)
def _ormqr(ins: Any, outs: Any, /, **params: Any) -> float:
    """A product with a vector and a change by a product of vectors for each reflection."""
    return 4.0 * outs[0].size * ins[1].shape[-1]


@cost_rules.register(c.tridiagonal_solve_p)
def _tridiagonal(ins: Any, outs: Any, /, **params: Any) -> float:
    return 3.0 * ins[1].size + 5.0 * outs[0].size


@cost_rules.register(f.cholesky_update_p)
def _update(ins: Any, outs: Any, /, **params: Any) -> float:
    return 3.0 * outs[0].size


@cost_rules.register(f.symmetric_product_p)
def _symmetric_product(ins: Any, outs: Any, /, **params: Any) -> float:
    return 2.0 * outs[0].size * ins[0].shape[-1]
