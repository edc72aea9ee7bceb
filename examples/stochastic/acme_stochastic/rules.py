"""Which primitives of ``lax`` do not round, and which add up many terms.

All others round each element of their results once. Where terms are added up in pairs, there are
log2(n) additions on the way of each: the terms are moved by the square root of that number of units
(the standard deviation of so many errors), the results once. The errors of factorizations and the
like are errors of their operands, too, for they are backward stable: as if they added up as many
terms as there are columns.
"""

from __future__ import annotations

from math import prod
from typing import Any

import dovetail_lax as lax
import dovetail_lax.linalg as linalg
from dovetail_core import is_inexact

from .machine import rounding, rounding_rules

EXACT = (
    lax.abs_p, lax.argmax_p, lax.argmin_p, lax.bitcast_convert_type_p, lax.broadcast_in_dim_p,
    lax.ceil_p, lax.clamp_p, lax.complex_p, lax.concatenate_p, lax.conj_p, lax.copy_p,
    lax.cummax_p, lax.cummin_p, lax.dynamic_slice_p, lax.dynamic_update_slice_p, lax.floor_p,
    lax.gather_p, lax.imag_p, lax.max_p, lax.min_p, lax.neg_p, lax.nextafter_p,
    lax.optimization_barrier_p, lax.pad_p, lax.real_p, lax.reduce_max_p, lax.reduce_min_p,
    lax.reduce_precision_p, lax.reduce_window_max_p, lax.reduce_window_min_p, lax.rem_p,
    lax.reshape_p, lax.rev_p, lax.round_p, lax.scatter_max_p, lax.scatter_min_p, lax.scatter_p,
    lax.select_n_p, lax.sign_p, lax.slice_p, lax.sort_p, lax.split_p, lax.squeeze_p, lax.stack_p,
    lax.stop_gradient_p, lax.tile_p, lax.top_k_p, lax.transpose_p, lax.unstack_p,
)  # fmt: skip


def _reduced(x: Any, *rest: Any, axes: Any, **params: Any) -> int:
    return prod(x.shape[i] for i in axes)


def _contracted(x: Any, y: Any, /, *, dimension_numbers: Any, **params: Any) -> int:
    (axes, _), _ = dimension_numbers
    return prod(x.shape[i] for i in axes)


def _convolved(x: Any, kernel: Any, /, *, dimension_numbers: Any, **params: Any) -> int:
    return kernel.size // max(kernel.shape[dimension_numbers.rhs_spec[0]], 1)


def _accumulated(x: Any, *, axis: int, **params: Any) -> int:
    return x.shape[axis]


def _windowed(x: Any, *rest: Any, window_dimensions: Any, **params: Any) -> int:
    return prod(window_dimensions)


def _scattered(x: Any, indices: Any, updates: Any, **params: Any) -> int:
    return updates.size


def _transformed(x: Any, *, fft_lengths: Any, **params: Any) -> int:
    return prod(fft_lengths)


def _columns(x: Any, *rest: Any, **params: Any) -> int:
    return x.shape[-1]


TERMS = {
    lax.reduce_sum_p: _reduced, lax.reduce_prod_p: _reduced, lax.dot_general_p: _contracted,
    lax.conv_general_dilated_p: _convolved, lax.cumsum_p: _accumulated,
    lax.cumprod_p: _accumulated, lax.cumlogsumexp_p: _accumulated,
    lax.reduce_window_sum_p: _windowed, lax.scatter_add_p: _scattered,
    lax.scatter_sub_p: _scattered, lax.scatter_mul_p: _scattered, lax.fft_p: _transformed,
    linalg.cholesky_p: _columns, linalg.eig_p: _columns, linalg.eigh_p: _columns,
    linalg.householder_product_p: _columns, linalg.lu_p: _columns, linalg.qr_p: _columns,
    linalg.svd_p: _columns, linalg.triangular_solve_p: _columns,
}  # fmt: skip

for _primitive in EXACT:
    rounding_rules.set(_primitive, rounding(_primitive, result=False))
for _primitive, _terms in TERMS.items():
    rounding_rules.set(_primitive, rounding(_primitive, _terms))


_round = rounding(lax.convert_element_type_p)
_keep = rounding(lax.convert_element_type_p, result=False)


@rounding_rules.register(lax.convert_element_type_p)
def _convert(carrier: Any, args: Any, params: Any) -> Any:
    """A wider type has all numbers of a narrower one."""
    old, new = carrier.aval(args[0]).dtype, params["new_dtype"]
    narrows = is_inexact(new) and new.itemsize < old.itemsize
    return (_round if narrows else _keep)(carrier, args, params)
