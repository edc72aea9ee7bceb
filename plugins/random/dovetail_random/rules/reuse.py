"""Rules of key reuse of the operations that do not use up all their keys."""

from __future__ import annotations

from typing import Any

import numpy as np

import dovetail_lax as lax
from dovetail_backends import device_put_p, sharding_constraint_p

from ..primitives import random_clone_p, random_fold_in_p, random_unwrap_p
from ..reuse.table import Operand, Uses, passes_on, reuse_rules, uses_none

for _primitive in (random_clone_p, random_fold_in_p, random_unwrap_p, lax.eq_p, lax.ne_p):
    reuse_rules.register(_primitive)(uses_none)
for _primitive in (
    lax.copy_p, lax.stop_gradient_p, lax.convert_element_type_p, lax.optimization_barrier_p,
    device_put_p, sharding_constraint_p,
):  # fmt: skip
    reuse_rules.register(_primitive)(passes_on)


def _box(shape: tuple[int, ...], index: tuple[slice, ...]) -> Any:
    used = np.zeros(shape, bool)
    used[index] = True
    return used


@reuse_rules.register(lax.slice_p)
def _slice(x: Operand, *, start_indices: Any, limit_indices: Any, strides: Any | None) -> Uses:
    steps = (1,) * len(start_indices) if strides is None else strides
    return Uses({0: _box(x.aval.shape, tuple(map(slice, start_indices, limit_indices, steps)))})


@reuse_rules.register(lax.dynamic_slice_p)
def _dynamic_slice(x: Operand, *starts: Operand, slice_sizes: tuple[int, ...]) -> Uses:
    if any(s.value is None for s in starts):
        return Uses({0: True})
    shape: tuple[int, ...] = x.aval.shape
    firsts = [max(0, min(int(s.value), n - k)) for s, n, k in zip(starts, shape, slice_sizes)]
    return Uses({0: _box(shape, tuple([slice(a, a + k) for a, k in zip(firsts, slice_sizes)]))})
