"""The law of the rule table: derivatives along a path are those that nested ``jvp`` finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import factorial
from typing import Any

import numpy as np

from dovetail_ad import jvp_values
from dovetail_core import MissingRule, is_inexact, lift_call, typeof
from dovetail_testing import (
    Sample,
    assert_close,
    assert_near,
    law,
    precision,
    random_like,
    skip,
)

from .series import SeriesCarrier, coefficient, scaled, series_rules

ORDER = 3
Paths = Sequence[Sequence[Any]]


def nested(f: Callable[..., list[Any]], paths: Paths, order: int) -> list[Any]:
    """The derivative of order ``order`` of ``f`` along a path, by differentiating so many times.

    ``paths[k]`` are the derivatives of order k of the operands (of order 0: where they are).
    """
    if not order:
        return f(*paths[0])
    width = len(paths[0])

    def lower(*xs: Any) -> list[Any]:
        parts = [xs[i : i + width] for i in range(0, len(xs), width)]
        return nested(f, parts, order - 1)

    before = [x for xs in paths[:order] for x in xs]
    after = [x for xs in paths[1 : order + 1] for x in xs]
    outs, tangents = jvp_values(lower, before, after)
    return [np.zeros_like(y) if t is None else t for y, t in zip(outs, tangents)]


def _inexact(x: Any) -> bool:
    return is_inexact(getattr(typeof(x), "dtype", None))


def _varying_operands(sample: Sample) -> list[int]:
    return [i for i, x in enumerate(sample.args) if _inexact(x)]


def _speaks(sample: Sample) -> bool:
    """True if something can move, all of it arrays: high values have no differences."""
    return bool(_varying_operands(sample)) and not sample.infer().is_high


@law("series", without=("nonsmooth", "extreme", "random"), applies=_speaks)
def series_law(sample: Sample) -> None:
    """Along a path that is curved in every operand, of order three."""
    if series_rules.get(sample.primitive) is None:
        skip("there is no rule")
    what = _varying_operands(sample)
    start = [sample.args[i] for i in what]
    directions = [[_direction(x, k) for x in start] for k in range(1, ORDER + 1)]

    def f(*xs: Any) -> list[Any]:
        given = dict(zip(what, xs))
        return sample.flat(*[given.get(i, x) for i, x in enumerate(sample.args)])

    series = [
        (x, *(scaled(d, 1 / factorial(k + 1)) for k, d in enumerate(ds)))
        for x, *ds in zip(start, *directions)
    ]
    try:
        result = lift_call(SeriesCarrier(ORDER), f, series)
    except MissingRule as e:
        skip(f"it applies an operation without a rule: {e}")
    for y, value in zip(f(*start), result):
        assert_close(value[0], y, "value", scale=1.0)
        assert len({typeof(c) for c in value}) == 1, "a coefficient has another type"
    rounding = max(precision(np.asarray(x).dtype) for x in (*start, *f(*start)) if _inexact(x))
    for k in range(1, ORDER + 1):
        for y, wanted in zip(result, nested(f, [start, *directions], k)):
            if _inexact(y[0]):
                size = np.max(np.abs(np.asarray(wanted).astype(complex)), initial=1.0)
                tol = rounding * 300
                got = scaled(coefficient(y, k), factorial(k))
                assert_near(got, wanted, tol, f"order {k}", atol=tol * float(size))


def _direction(x: Any, seed: int) -> Any:
    aval: Any = typeof(x)
    made = (random_like(aval, seed) * 0.5).astype(aval.dtype)
    return made if not aval.weak_type else complex(made) if aval.dtype.kind == "c" else float(made)
