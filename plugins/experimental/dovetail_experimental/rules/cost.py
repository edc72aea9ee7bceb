"""Rules of ``experimental.cost`` for the primitives of ``lax`` that do not just compute.

What is not here takes the flops that ``remat.cost`` says: products, convolutions, factorizations,
reductions, what is free, and one flop for each element of other results.
"""

from __future__ import annotations

from typing import Any

import dovetail_lax as lax

from ..roofline.cost import Cost, cost_rules, nbytes, size

TRANSCENDENTAL = (
    lax.acos_p, lax.acosh_p, lax.asin_p, lax.asinh_p, lax.atan2_p, lax.atan_p, lax.atanh_p,
    lax.bessel_i1e_p, lax.cbrt_p, lax.cos_p, lax.cosh_p, lax.digamma_p, lax.erf_inv_p, lax.erf_p,
    lax.erfc_p, lax.exp2_p, lax.exp_p, lax.expm1_p, lax.lgamma_p, lax.log1p_p, lax.log_p,
    lax.logistic_p, lax.polygamma_p, lax.pow_p, lax.rsqrt_p, lax.sin_p, lax.sinh_p, lax.sqrt_p,
    lax.tan_p, lax.tanh_p, lax.zeta_p,
)  # fmt: skip
VIEWS = (lax.optimization_barrier_p, lax.stop_gradient_p, lax.transpose_p)
MOVES = (
    lax.bitcast_convert_type_p, lax.complex_p, lax.concatenate_p, lax.imag_p,
    lax.real_p, lax.rev_p, lax.split_p, lax.stack_p, lax.tile_p, lax.unstack_p,
)  # fmt: skip
PARTS = (lax.dynamic_slice_p, lax.gather_p, lax.slice_p)
UPDATES = {
    lax.scatter_add_p: 1, lax.scatter_max_p: 1, lax.scatter_min_p: 1, lax.scatter_mul_p: 1,
    lax.scatter_p: 0, lax.scatter_sub_p: 1,
}  # fmt: skip


def _transcendental(ins: Any, outs: Any, /, **params: Any) -> Cost:
    return Cost(transcendentals=size(outs[0]))


def _view(ins: Any, outs: Any, /, **params: Any) -> Cost:
    return Cost(view=True)


def _move(ins: Any, outs: Any, /, **params: Any) -> Cost:
    return Cost()


def _part(ins: Any, outs: Any, /, **params: Any) -> Cost:
    """Of the first operand as much as comes out."""
    return Cost(reads=(nbytes(outs[0]), *map(nbytes, ins[1:])))


@cost_rules.register(lax.dynamic_update_slice_p)
def _in_place(ins: Any, outs: Any, /, **params: Any) -> Cost:
    """In place."""
    _, update, *starts = ins
    return Cost(reads=(0, *map(nbytes, (update, *starts))), stored=nbytes(update), view=True)


for _primitive in TRANSCENDENTAL:
    cost_rules.set(_primitive, _transcendental)
for _primitive in VIEWS:
    cost_rules.set(_primitive, _view)
for _primitive in MOVES:
    cost_rules.set(_primitive, _move)
for _primitive in PARTS:
    cost_rules.set(_primitive, _part)


def _update(primitive: Any, flops: int) -> None:
    """In place; what is combined with an update is read before."""

    @cost_rules.register(primitive)
    def rule(ins: Any, outs: Any, /, **params: Any) -> Cost:  # pyright: ignore[reportUnusedFunction]
        _, indices, updates = ins
        moved = nbytes(updates)
        reads = (flops * moved, nbytes(indices), moved)
        return Cost(flops * size(updates), reads=reads, stored=moved, view=True)


for _primitive, _flops in UPDATES.items():
    _update(_primitive, _flops)
