"""Derivatives of pytrees along paths, solutions of differential equations, errors."""

from __future__ import annotations

import numpy as np
import pytest
from acme_taylor import solution, taylor

import dovetail
from dovetail import enable_x64, numpy as dnp


@pytest.fixture(autouse=True)
def _double():
    with enable_x64(True):
        yield


X = np.array([0.4, 1.1, 0.7])
V = np.array([0.5, -0.3, 1.2])


def same(found, wanted, rtol=1e-9):
    for x, y in zip(found, wanted, strict=True):
        np.testing.assert_allclose(x, y, rtol=rtol, atol=rtol)


def test_known_series():
    same(taylor(dnp.exp, 5)(X, V), [np.exp(X) * V**k for k in range(6)])
    same(taylor(lambda x: 1 / (1 - x), 4)(0.0, 1.0), [1, 1, 2, 6, 24])


def test_curved_paths():
    """The formula of Faà di Bruno, of third order."""
    x, d1, d2, d3 = 0.3, 0.7, -0.4, 1.5
    found = taylor(dnp.sin, 3)(x, d1, d2, d3)
    s, c = np.sin(x), np.cos(x)
    same(found, [s, c * d1, c * d2 - s * d1**2, c * d3 - 3 * s * d1 * d2 - c * d1**3])


def test_structures_of_arguments_and_results():
    f = lambda p: {"a": (p["u"] * p["v"][0], 3), "b": p["v"][0] ** 2}  # noqa: E731
    p, d = {"u": 2.0, "v": [X]}, {"u": 1.0, "v": [V]}
    values, first, second = taylor(f, 2)(p, d)
    same([values["a"][0], first["a"][0], second["a"][0]], [2 * X, X + 2 * V, 2 * V])
    assert (int(values["a"][1]), int(first["a"][1])) == (3, 0)
    same([first["b"], second["b"]], [2 * X * V, 2 * V * V])


def test_the_gradient_along_a_direction():
    g = lambda x: dnp.sum(dnp.sin(x) * x)  # noqa: E731
    same(taylor(dovetail.grad(g), 1)(X, V)[1:], [dovetail.hessian(g)(X) @ V])


def pendulum(y):
    angle, speed = y
    return speed, -dnp.sin(angle)


def test_a_pendulum_keeps_its_energy():
    angle, speed = dovetail.jit(solution(pendulum, 12), static_argnums=2)((0.5, 0.2), 10.0, 50)
    energy = lambda a, s: s * s / 2 - np.cos(a)  # noqa: E731
    same([energy(angle, speed)], [energy(0.5, 0.2)], 1e-12)


def test_growth_and_its_derivative():
    """y' = y (1 - y): the logistic curve, and how it depends on where it starts."""
    logistic = lambda y: solution(lambda y: y * (1 - y), 10)(y, 2.0, 10)  # noqa: E731
    e = np.exp(2.0)
    same([logistic(0.2)], [0.2 * e / (1 + 0.2 * (e - 1))], 1e-11)
    same([dovetail.jacfwd(logistic)(0.2)], [e / (1 + 0.2 * (e - 1)) ** 2], 1e-9)


def test_errors():
    with pytest.raises(ValueError, match="order is -1; it must not be negative"):
        taylor(dnp.sin, -1)
    with pytest.raises(ValueError, match="order is 0; it must be positive"):
        solution(dnp.sin, 0)
    with pytest.raises(TypeError, match=r"has type i64\[\].*must be real or complex numbers"):
        taylor(dnp.sin, 2)(1, 1)
    with pytest.raises(ValueError, match=r"derivative 1 has the structure .* and x "):
        taylor(lambda p: p, 2)((X,), [V])
