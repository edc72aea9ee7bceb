"""The law of the rule table: jets are what nested ``jvp`` finds, one input after another."""

from __future__ import annotations

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

from .forward import LaplacianCarrier, forward_rules

CARRIER = LaplacianCarrier(3)


def _inexact(x: Any) -> bool:
    return is_inexact(getattr(typeof(x), "dtype", None))


def _inexact_operands(sample: Sample) -> list[int]:
    return [i for i, x in enumerate(sample.args) if _inexact(x)]


@law(
    "forward",
    without=("nonsmooth", "extreme", "random"),
    applies=lambda s: bool(_inexact_operands(s)),
)
def forward_law(sample: Sample) -> None:
    """Where every operand moves with three inputs, and has a Laplacian."""
    if forward_rules.get(sample.primitive) is None:
        skip("there is no rule")
    moving = _inexact_operands(sample)
    start = [sample.args[i] for i in moving]
    rows = [[_direction(x, i) for x in start] for i in range(CARRIER.size)]
    laplacians = [_direction(x, 7) for x in start]

    def f(*xs: Any) -> list[Any]:
        given = dict(zip(moving, xs))
        return sample.flat(*[given.get(i, x) for i, x in enumerate(sample.args)])

    stacked = [_like(np.stack(ds), x, CARRIER.size) for x, ds in zip(start, zip(*rows))]
    try:
        found = lift_call(CARRIER, f, list(zip(start, stacked, laplacians)))
    except MissingRule as e:
        skip(f"it applies an operation without a rule: {e}")
    expected = [_second(f, start, row) for row in rows]
    bent = jvp_values(f, start, laplacians)[1]
    outs = f(*start)
    rounding = 300 * max(precision(np.asarray(x).dtype) for x in (*start, *outs) if _inexact(x))
    for n, (y, value) in enumerate(zip(outs, found)):
        assert_close(value[0], y, "value", scale=1.0)
        types = CARRIER.types(typeof(y), len(value) - 1)
        assert tuple(map(typeof, value)) == types, f"types {[*map(typeof, value)]}, not {types}"
        if _inexact(y):
            _, jacobian, lap = CARRIER.arrays(value, 2, 0)
            _compare(jacobian, np.stack([_array(e[0][n], y) for e in expected]), rounding)
            curved = sum(_array(e[1][n], y) for e in expected)
            _compare(lap, curved + _array(bent[n], y), rounding)


def _second(f: Any, xs: list[Any], row: list[Any]) -> tuple[list[Any], list[Any]]:
    """First and second derivatives of ``f`` along a line."""

    def first(*xs: Any) -> list[Any]:
        outs, tangents = jvp_values(f, xs, row)
        return [np.zeros_like(y) if t is None else t for y, t in zip(outs, tangents)]

    return jvp_values(first, xs, row)


def _array(tangent: Any, like: Any) -> Any:
    return np.zeros_like(like) if tangent is None else np.asarray(tangent)


def _direction(x: Any, seed: int) -> Any:
    return _like(random_like(typeof(x), seed) * 0.5, x)


def _like(made: Any, x: Any, *size: int) -> Any:
    from dovetail_core import algebra

    aval: Any = typeof(x)
    return algebra().convert(made.astype(aval.dtype), aval.update(shape=(*size, *aval.shape)))


def _compare(found: Any, wanted: Any, tol: float) -> None:
    size = np.max(np.abs(np.asarray(wanted).astype(complex)), initial=1.0)
    assert_near(found, wanted, tol, "derivatives", atol=tol * float(size))
