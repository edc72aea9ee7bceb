"""The law of the rule table: where a derivative is not zero, the pattern says so."""

from __future__ import annotations

from typing import Any

import numpy as np
from ml_dtypes import finfo

from dovetail_ad import jvp
from dovetail_core import MissingRule, ShapedArray, is_inexact, registry, stage_closed
from dovetail_testing import Sample, law, skip

from .pattern import sparsity

DIRECTIONS = 12


def _real(aval: Any) -> bool:
    return isinstance(aval, ShapedArray) and is_inexact(aval.dtype) and aval.dtype.kind != "c"


def _differentiable(sample: Sample) -> bool:
    avals: tuple[Any, ...] = sample.avals
    return any(_real(aval) and aval.size for aval in avals)


@law("pattern", without=("extreme", "random", "empty"), applies=_differentiable)
def pattern_law(sample: Sample) -> None:
    """Tangents of unit vectors, for the first real operand alone and for all together."""
    avals: tuple[Any, ...] = sample.avals
    lifted = [i for i, aval in enumerate(avals) if _real(aval)]
    for chosen in [lifted[:1], lifted] if len(lifted) > 1 else [lifted]:
        _try(sample, chosen)


def _is_there(tangent: Any) -> Any:
    """Which elements are not zero, nor what rounding leaves of terms that cancel."""
    size = np.abs(tangent).max(initial=0.0)
    return np.abs(tangent) > 16 * float(finfo(tangent.dtype).eps) * size


def _try(sample: Sample, chosen: list[int]) -> None:
    avals: list[Any] = [sample.avals[i] for i in chosen]
    xs = [np.asarray(sample.args[i], aval.dtype) for i, aval in zip(chosen, avals)]

    def f(*some: Any) -> list[Any]:
        operands = dict(enumerate(sample.args)) | dict(zip(chosen, some))
        outs = sample.flat(*operands.values())
        types = sample.primitive.infer(sample.avals, dict(sample.params)).avals
        return [y for y, aval in zip(outs, types) if is_inexact(getattr(aval, "dtype", None))]

    def tangents(*both: Any) -> list[Any]:
        return jvp(f, both[: len(xs)], both[len(xs) :])[1]

    try:
        pattern = stage_closed(lambda *some: [sparsity(lambda x: f(*x))([*some])], avals, "pattern")
        derivative = stage_closed(tangents, [*avals, *avals], "tangents")
    except MissingRule as e:
        skip(f"a rule of another table is missing: {e}")
    found = _run(pattern, xs)[0]
    ends = np.cumsum([0, *(x.size for x in xs)])
    for column in np.linspace(0, ends[-1] - 1, min(DIRECTIONS, ends[-1])).astype(int):
        unit = np.arange(ends[-1]) == column
        parts = [unit[a:b].reshape(x.shape).astype(x.dtype) for a, b, x in zip(ends, ends[1:], xs)]
        outs = [np.ravel(t) for t in _run(derivative, [*xs, *parts])]
        there = np.concatenate([_is_there(t) for t in outs]) if outs else np.zeros(0, bool)
        missed = np.flatnonzero(there & ~found[:, column])
        assert not missed.size, f"results {missed} depend on element {column} of operands {chosen}"


def _run(program: Any, args: list[Any]) -> list[np.ndarray[Any, Any]]:
    return [np.asarray(y) for y in registry().backend("reference").run(program, args)]
