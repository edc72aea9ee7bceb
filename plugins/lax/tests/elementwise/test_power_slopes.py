"""Slopes of powers where the exponent or the base is 0, of both orders."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail import grad, hessian, jacfwd, jacrev, jit, vmap
from dovetail_core import enable_x64


@pytest.mark.parametrize("run", [lambda f: f, jit])
def test_second_slopes_at_exponent_zero(run: Any) -> None:
    """The mixed one is ``1/x`` at exponent 0, in any order of differentiation and in both modes."""

    def f(v: Any) -> Any:
        return v[0] ** v[1]

    for x in (4.0, 0.25, 1e-15):
        v = np.array([x, 0.0], np.float32)
        wanted = [[0, 1 / x], [1 / x, np.log(x) ** 2]]
        for second in (hessian(f), jacfwd(jacfwd(f)), jacrev(jacrev(f)), jacrev(jacfwd(f))):
            np.testing.assert_allclose(run(second)(v), wanted, rtol=1e-5)
    with enable_x64(True):
        for x, y in ((1.3, 2.5), (-2.0, 3.0), (0.7, -1.5)):
            first = run(grad(lambda x, y: x**y))(x, y)
            np.testing.assert_allclose(first, y * x ** (y - 1), rtol=1e-12)
            mixed = run(grad(grad(lambda x, y: x**y), 1))(abs(x), y)
            size = abs(x)
            wanted = size ** (y - 1) * (1 + y * np.log(size))
            np.testing.assert_allclose(mixed, wanted, rtol=1e-12)


@pytest.mark.parametrize("run", [lambda f: f, jit])
def test_first_slopes_at_zero(run: Any) -> None:
    """The slope of ``x**0`` in ``x`` is 0, at 0 and at numbers whose inverse is infinite, too."""
    x = np.array([0, 0, 0, 1e-40, 5, -3, 0], np.float32)
    y = np.array([0, 1, 2, 0, 0, 0, 0.5], np.float32)
    result = run(vmap(grad(lambda x, y: x**y)))(x, y)
    np.testing.assert_array_equal(result, [0, 1, 0, 0, 0, 0, np.inf])
    slope = run(grad(lambda z, w: lax.real(z**w)))(np.complex64(2 + 1j), np.complex64(0))
    assert complex(slope) == 0
