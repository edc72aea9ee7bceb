"""Axes, parts and contractions of sparse arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import Primitive

from ...base import JAXSparse
from ...bcoo import (
    bcoo_broadcast_in_dim,
    bcoo_concatenate,
    bcoo_conv_general_dilated,
    bcoo_dot_general,
    bcoo_dynamic_slice,
    bcoo_gather,
    bcoo_reduce_sum,
    bcoo_reshape,
    bcoo_rev,
    bcoo_slice,
    bcoo_squeeze,
)
from ...bcoo.array import BCOO
from ...bcoo.indexing import moved
from ...lifting.carrier import SparseCarrier, as_bcoo, sparsify_rules

Args = Sequence[Any]
Params = dict[str, Any]


def _simple(primitive: Primitive, function: Callable[..., Any], *names: str) -> None:
    """The rule of a primitive whose function on sparse arrays has parameters of the same names."""

    def rule(carrier: SparseCarrier, args: Args, params: Params) -> Any:
        first, *rest = args
        if not isinstance(first, JAXSparse):
            return NotImplemented
        return function(as_bcoo(first), *rest, **{name: params[name] for name in names})

    sparsify_rules.set(primitive, rule)


_simple(lax.broadcast_in_dim_p, bcoo_broadcast_in_dim, "shape", "broadcast_dimensions")
_simple(lax.reshape_p, bcoo_reshape, "new_sizes")
_simple(lax.rev_p, bcoo_rev, "dimensions")
_simple(lax.slice_p, bcoo_slice, "start_indices", "limit_indices", "strides")
_simple(lax.squeeze_p, bcoo_squeeze, "dimensions")
_simple(lax.transpose_p, moved, "permutation")
_simple(
    lax.gather_p, bcoo_gather, "dimension_numbers", "slice_sizes", "indices_are_sorted",
    "unique_indices", "mode", "fill_value",
)  # fmt: skip


@sparsify_rules.register(lax.dynamic_slice_p)
def _dynamic_slice_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    first, *given = args
    starts = [dnp.maximum(start, 0) for start in given]  # negative ones count from the end there
    return bcoo_dynamic_slice(as_bcoo(first), starts, params["slice_sizes"])


@sparsify_rules.register(lax.split_p)
def _split_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> list[Any]:
    mat, axis, begin = as_bcoo(args[0]), params["axis"], 0
    result: list[Any] = []
    for size in params["sizes"]:
        start, limit = [0] * mat.ndim, list(mat.shape)
        start[axis], limit[axis] = begin, begin + size
        result.append(bcoo_slice(mat, start_indices=start, limit_indices=limit))
        begin += size
    return result


@sparsify_rules.register(lax.reduce_sum_p)
def _reduce_sum_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    result = bcoo_reduce_sum(as_bcoo(args[0]), axes=params["axes"])
    return result if result.shape else result.todense()


@sparsify_rules.register(lax.concatenate_p)
def _concatenate_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    return bcoo_concatenate(_alike(args), dimension=params["dimension"])


def _alike(args: Args) -> list[Any]:
    """All arrays in the layout of the first sparse one."""
    like = next(as_bcoo(a) for a in args if isinstance(a, JAXSparse))
    return [
        as_bcoo(a)
        if isinstance(a, JAXSparse)
        else BCOO.fromdense(a, n_batch=like.n_batch, n_dense=like.n_dense)
        for a in args
    ]


@sparsify_rules.register(lax.dot_general_p)
def _dot_general_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    lhs, rhs = (as_bcoo(a) if isinstance(a, JAXSparse) else a for a in args)
    return bcoo_dot_general(
        lhs, rhs, dimension_numbers=params["dimension_numbers"],
        preferred_element_type=params["preferred_element_type"],
    )  # fmt: skip


@sparsify_rules.register(lax.conv_general_dilated_p)
def _conv_sparsify(carrier: SparseCarrier, args: Args, params: Params) -> Any:
    lhs, rhs = (as_bcoo(a) if isinstance(a, JAXSparse) else a for a in args)
    return bcoo_conv_general_dilated(lhs, rhs, **params)
