"""Rules of other tables by way of ``ad.jvp``: what an author wrote counts."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
import dovetail.lax as lax
import dovetail.numpy as dnp
from dovetail_ad import jvp_rules, via_jvp
from dovetail_core import Carrier, LiftTrace, RuleTable, derive, float0, lift_call, typeof


class Slopes(Carrier):
    """A second way to carry tangents: pairs of a value and its slope, without zeros."""

    key = "test.slopes"

    def trace(self, parent):
        return LiftTrace(parent, self, slope_rules)

    def pure(self, x):
        return x, None

    def aval(self, value):
        return typeof(value[0])

    def structure(self, value, depth):
        return value[1] is not None

    def join_structures(self, a, b):
        return a or b

    def types(self, aval, structure):
        return (aval, aval) if structure else (aval,)

    def arrays(self, value, structure, depth):
        x, t = value
        return (x, dnp.zeros_like(x) if t is None else t) if structure else (x,)

    def value(self, arrays, structure, depth):
        return (arrays[0], arrays[1] if structure else None)

    def known(self, value):
        return value[0] if value[1] is None else None


def _by_derivatives(carrier, f, args):
    primals = tuple([x for x, _ in args])
    tangents = tuple([dnp.zeros_like(x) if t is None else t for x, t in args])
    out, slope = dovetail.jvp(f, primals, tangents)
    if isinstance(out, list):
        return [_pair(y, t) for y, t in zip(out, slope)]
    return _pair(out, slope)


def _pair(y, t):
    return y, None if t.dtype == float0 else t


slope_rules: RuleTable = RuleTable(
    "test.slopes", derive=lambda p: via_jvp(p, _by_derivatives) or derive(p)
)


def slope(f, x):
    return lift_call(Slopes(), f, [(x, np.float32(1.0))])


@dovetail.custom_jvp
def seven(x):
    return x * 2.0


seven.defjvp(lambda primals, tangents: (seven(*primals), 7.0 * tangents[0]))


@dovetail.custom_vjp
def eight(x):
    return x * 2.0


eight.defvjp(lambda x: (eight(x), None), lambda _, ct: (8.0 * ct,))
x = np.float32(0.3)


@pytest.mark.parametrize(
    "f",
    [
        dnp.sin,
        lambda x: dnp.exp(x) * x,
        lambda x: lax.cond(x > 0, dnp.sin, dnp.cos, x),
        lambda x: lax.fori_loop(0, 3, lambda i, y: dnp.sin(y) * x, x),
        lambda x: dovetail.jit(seven)(x) + 1.0,
        lambda x: lax.scan(lambda c, _: (seven(c), c), x, None, length=2)[0],
        dovetail.nn.softplus,
    ],
)
def test_a_table_by_derivatives_agrees_with_jvp(f):
    value, result = slope(f, x)
    want, tangent = dovetail.jvp(f, (x,), (np.float32(1.0),))
    np.testing.assert_allclose(value, want, rtol=1e-6)
    np.testing.assert_allclose(result, tangent, rtol=1e-6)


def test_an_authors_derivative_is_not_lost():
    assert slope(seven, x)[1] == 7.0


def test_nobody_wrote_a_derivative():
    from dovetail_lax.primitives.shape import split_p

    assert (via_jvp(split_p, _by_derivatives) is None) == (not jvp_rules.declares(split_p))
    assert via_jvp(lax.scan_p, _by_derivatives) is None
