"""The transformation: its law on the primitives of all plugins, values, composition, errors."""

from __future__ import annotations

import dovetail
import dovetail.numpy as dnp
import numpy as np
import pytest
from dovetail_core import MissingRule
from dovetail_testing import matrix

from dovetail_acme import bounds

test_law = matrix(tables="acme")

f32 = np.float32


def parabola(x):
    return 1.0 - x * x


def test_values():
    low, high = bounds(lambda x, y: dnp.exp(-x) + y)((f32(0), f32(1)), (f32(2), f32(3)))
    assert np.isclose(low, np.exp(-1) + 2) and np.isclose(high, 4)


@pytest.mark.parametrize("wrap", [lambda f: f, dovetail.jit])
def test_it_composes_with_other_transformations(wrap):
    low, high = np.zeros(3, f32), np.array([1, 2, 3], f32)
    for transformed in (bounds(wrap(parabola)), wrap(lambda x: bounds(parabola)(x))):
        found = transformed((low, high))
        assert found[0].tolist() == [0, -3, -8] and found[1].tolist() == [1, 1, 1]
    slope = bounds(dovetail.grad(parabola))((f32(0), f32(1)))
    assert [float(x) for x in slope] == [-2, 0]
    width = dovetail.grad(lambda h: bounds(parabola)((f32(0), h))[0])
    assert float(width(f32(3))) == -6


def test_loops_need_no_rule():
    def compound(rate):
        return dovetail.lax.fori_loop(0, 10, lambda i, y: y + y * rate, f32(100))

    low, high = bounds(compound)((f32(0.01), f32(0.02)))
    assert np.isclose(low, 100 * 1.01**10) and np.isclose(high, 100 * 1.02**10)


def test_bounds_of_two_types():
    with pytest.raises(TypeError) as e:
        bounds(parabola)((np.zeros(3, f32), f32(1)))
    assert "the bounds of argument 0 have types f32[3] and f32[]" in str(e.value)


def test_a_primitive_without_a_rule():
    with pytest.raises(MissingRule, match="has no rule for primitive 'tan'"):
        bounds(dnp.tan)((f32(0), f32(1)))


def test_a_loop_that_may_end_at_any_time():
    def halve(x):
        return dovetail.lax.while_loop(lambda y: y > 1.0, lambda y: y * 0.5, x)

    with pytest.raises(TypeError, match=r"bounds: whether a loop goes on at .* depends on values"):
        bounds(halve)((f32(2), f32(3)))
