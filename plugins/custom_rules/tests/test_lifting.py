"""Rules under ``vmap``: what a derivative rule makes depend on more operands than the body does."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
import dovetail.numpy as dnp

YS = np.asarray([1.0, 2.0, 5.0], np.float32)


def by_jvp() -> Any:
    f = dt.custom_jvp(lambda x, y: (x * 1.0, 3))
    f.defjvp(lambda p, t: (f(*p), (t[0] * p[1], np.zeros((), dt.float0))))
    return f


def by_vjp() -> Any:
    f = dt.custom_vjp(lambda x, y: (x * 1.0, 3))
    f.defvjp(lambda x, y: (f(x, y), y), lambda y, ct: (ct[0] * y, None))
    return f


@pytest.mark.parametrize("made", [by_jvp, by_vjp])
def test_a_tangent_that_is_mapped_where_the_value_is_not(made: Any) -> None:
    f = made()

    def over(x: Any) -> Any:
        return dt.vmap(lambda y: f(x, y)[0])(YS)

    value, tangent = dt.jvp(over, (2.0,), (1.0,))
    np.testing.assert_allclose(value, [2.0, 2.0, 2.0])
    np.testing.assert_allclose(tangent, YS)
    np.testing.assert_allclose(dt.grad(lambda x: dnp.sum(over(x)))(2.0), YS.sum())


@pytest.mark.parametrize("made", [by_jvp, by_vjp])
def test_a_result_without_tangents_stays_unmapped(made: Any) -> None:
    out, count = dt.vmap(made(), in_axes=(None, 0), out_axes=(0, None))(2.0, YS)
    assert np.shape(out) == (3,) and np.shape(count) == () and count == 3
