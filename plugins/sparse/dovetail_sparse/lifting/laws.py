"""The law of the rule table: on sparse arrays the same results as on dense ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_core import lift_call, typeof
from dovetail_testing import Sample, assert_close, law, skip

from ..base import JAXSparse
from ..bcoo.array import BCOO
from .carrier import SparseCarrier, sparsify_rules


def _can_be_sparse(x: Any) -> bool:
    dtype = getattr(typeof(x), "dtype", None)
    return isinstance(dtype, np.dtype) and bool(np.ndim(x))


def _has_arrays_with_axes(sample: Sample) -> bool:
    """True if an operand is an array with axes."""
    return not sample.infer().is_high and any(map(_can_be_sparse, sample.args))


@law("sparsify", without=("extreme", "random", "effect"), applies=_has_arrays_with_axes)
def sparsify_law(sample: Sample) -> None:
    """With each operand sparse in turn, where that is possible."""
    if sparsify_rules.get(sample.primitive) is None:
        skip("there is no rule")
    wanted = sample.flat(*sample.args)
    tried = 0
    for i, x in enumerate(sample.args):
        if not _can_be_sparse(x):
            continue
        args = list(sample.args)
        args[i] = BCOO.fromdense(np.asarray(x))
        try:
            result = lift_call(SparseCarrier(), sample.flat, args)
        except NotImplementedError:
            continue  # the result would be dense, or the layout is another
        tried += 1
        for got, want in zip(result, wanted):
            dense = got.todense() if isinstance(got, JAXSparse) else got
            assert_close(dense, want, f"operand {i} sparse", scale=1.0)
    if not tried:
        skip("the result would be dense")
