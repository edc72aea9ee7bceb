"""Reference evaluation of the scatter family: one window after the other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dovetail_backends import reference_rules
from dovetail_core import ClosedJaxpr, Primitive, eval_jaxpr

from ...primitives.indexing import GatherScatterMode
from ...primitives.scatter import (
    ScatterDimensionNumbers,
    as_gather,
    scatter_add_p,
    scatter_apply_p,
    scatter_max_p,
    scatter_min_p,
    scatter_mul_p,
    scatter_p,
    scatter_sub_p,
    window_sizes,
)
from .gather import windows

Array = np.ndarray[Any, Any]


def _scatter(
    combine: Callable[[Array, Array], Any],
    operand: Array,
    indices: Array,
    updates: Array,
    *,
    dimension_numbers: ScatterDimensionNumbers,
    indices_are_sorted: bool,
    unique_indices: bool,
    mode: GatherScatterMode,
) -> Array:
    out = np.array(operand)
    sizes = window_sizes(operand.shape, updates.shape, dimension_numbers)
    dn = as_gather(dimension_numbers)
    if mode is GatherScatterMode.PROMISE_IN_BOUNDS:
        mode = GatherScatterMode.FILL_OR_DROP  # as StableHLO does
    for where, box, _ in windows(operand.shape, indices, dn, sizes, mode):
        if box is not None:
            old = out[box]
            with np.errstate(all="ignore"):
                new = combine(old, updates[where].reshape(old.shape))
            out[box] = np.asarray(new).astype(operand.dtype)
    return out


def _register(primitive: Primitive, combine: Callable[[Array, Array], Any]) -> None:
    def rule(operand: Array, indices: Array, updates: Array, **params: Any) -> Array:
        return _scatter(combine, operand, indices, updates, **params)

    reference_rules.set(primitive, rule)


_register(scatter_p, lambda old, new: new)
_register(scatter_add_p, np.add)
_register(scatter_sub_p, np.subtract)
_register(scatter_mul_p, np.multiply)
_register(scatter_min_p, np.minimum)
_register(scatter_max_p, np.maximum)


@reference_rules.register(scatter_apply_p)
def _scatter_apply(
    operand: Array, indices: Array, updates: Array, *, update: ClosedJaxpr, **params: Any
) -> Array:
    def once(old: Array, _: Array) -> Array:
        new = [eval_jaxpr(update.jaxpr, update.consts, x)[0] for x in old.ravel()]
        return np.array([np.asarray(x) for x in new], old.dtype).reshape(old.shape)

    return _scatter(once, operand, indices, updates, **params)
