"""What is checked in unmarked operations: NaN, division by zero, indices out of bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import Eqn, is_inexact


class Finding(NamedTuple):
    """An operation that was applied: its equation, and the values of its operands and results."""

    eqn: Eqn
    args: list[Any]
    outs: list[Any]


class Kind(NamedTuple):
    """To which operations a check applies, what it says (with their names), and when it fails."""

    applies: Callable[[Eqn], bool]
    message: str
    fails: Callable[[Finding], Any]


def _is_inexact(v: Any) -> bool:
    dtype = getattr(v.aval, "dtype", None)
    return isinstance(dtype, np.dtype) and is_inexact(dtype)


def _is_nan(found: Finding) -> Any:
    pairs = zip(found.eqn.outvars, found.outs)
    return dnp.any(dnp.stack([dnp.any(dnp.isnan(x)) for v, x in pairs if _is_inexact(v)]))


def _is_out_of_bounds(found: Finding) -> Any:
    eqn, (x, *rest) = found.eqn, found.args
    if eqn.primitive is lax.dynamic_slice_p:
        return _outside(x.shape, eqn.params["slice_sizes"], rest, range(len(rest)))
    if eqn.primitive is lax.dynamic_update_slice_p:
        return _outside(x.shape, rest[0].shape, rest[1:], range(len(rest) - 1))
    numbers = eqn.params["dimension_numbers"]
    if eqn.primitive is lax.gather_p:
        sizes, axes = eqn.params["slice_sizes"], numbers.start_index_map
    else:
        axes = numbers.scatter_dims_to_operand_dims
        missing = {*numbers.inserted_window_dims, *numbers.operand_batching_dims}
        windows = iter(numbers.update_window_dims)
        shape = rest[1].shape
        sizes = [1 if d in missing else shape[next(windows)] for d in range(len(x.shape))]
    return _outside(x.shape, sizes, [rest[0][..., i] for i in range(len(axes))], axes)


def _outside(shape: Any, sizes: Any, starts: Any, axes: Any) -> Any:
    """Whether a slice of some size that starts there is not all inside of an array."""
    last = [shape[d] - sizes[d] for d in axes]
    outside = [dnp.any((i < 0) | (i > n)) for i, n in zip(starts, last)]
    return dnp.any(dnp.stack(outside)) if outside else False


_DIVISIONS = (lax.div_p, lax.rem_p)
_INDEXING = {
    lax.dynamic_slice_p, lax.dynamic_update_slice_p, lax.gather_p, lax.scatter_p,
    lax.scatter_add_p, lax.scatter_sub_p, lax.scatter_mul_p, lax.scatter_min_p,
    lax.scatter_max_p, lax.scatter_apply_p,
}  # fmt: skip

KINDS = {
    "nan": Kind(lambda e: any(map(_is_inexact, e.outvars)), "NaN in a result of {}", _is_nan),
    "division": Kind(
        lambda e: e.primitive in _DIVISIONS, "division by zero in {}",
        lambda found: dnp.any(found.args[1] == 0),
    ),
    "index": Kind(
        lambda e: e.primitive in _INDEXING, "index out of bounds in {}", _is_out_of_bounds
    ),
}  # fmt: skip
