"""A primitive with a decomposition works under every transformation, without rules."""

from __future__ import annotations

import numpy as np
import pytest
from acme_interval import gudermannian, gudermannian_p, interval

import dovetail
from dovetail import grad, jit, vmap
from dovetail_core import registry

f32 = np.float32
X = np.array([-20.0, -2.0, -0.5, 0.0, 0.5, 1.0, 30.0], f32)
CLOSED = np.arctan(np.sinh(X.astype(np.float64)))


def test_no_rule_was_written():
    for f in (gudermannian, grad(gudermannian), lambda x: interval(gudermannian)(x, x + 1)):
        vmap(jit(f))(X)
    for name in registry().entries("tables"):
        origin = registry().table(name).origins.get(gudermannian_p)
        assert origin is None or origin.kind == "derived", name


def test_values():
    np.testing.assert_allclose(gudermannian(X), CLOSED, rtol=1e-6)
    assert gudermannian(1.0).weak_type


@pytest.mark.parametrize("transform", [jit, vmap, lambda f: jit(vmap(f)), dovetail.checkpoint])
def test_transformed_values(transform):
    np.testing.assert_allclose(transform(gudermannian)(X), CLOSED, rtol=1e-6)


def test_derivatives():
    sech = 1 / np.cosh(X.astype(np.float64))
    np.testing.assert_allclose(vmap(grad(gudermannian))(X), sech, rtol=1e-4, atol=1e-6)
    second = vmap(grad(grad(gudermannian)))(X)
    np.testing.assert_allclose(second, -sech * np.tanh(X), rtol=1e-4, atol=1e-6)
    _, dy = dovetail.jvp(jit(gudermannian), (X,), (np.full_like(X, 2),))
    np.testing.assert_allclose(dy, 2 * sech, rtol=1e-4, atol=1e-6)


def test_inside_of_a_loop():
    @jit
    def f(x):
        return dovetail.lax.scan(lambda c, _: (gudermannian(c), None), x, None, length=3)[0]

    def expected(x):
        for _ in range(3):
            x = np.arctan(np.sinh(x))
        return x

    assert float(f(f32(1))) == pytest.approx(expected(1.0))
    step = 1e-6
    slope = (expected(1 + step) - expected(1 - step)) / (2 * step)
    assert float(grad(f)(f32(1))) == pytest.approx(slope, rel=1e-5)


def test_bounds_follow_from_the_decomposition():
    lo, hi = interval(gudermannian)(X - f32(0.5), X + f32(0.5))
    np.testing.assert_allclose(lo, np.arctan(np.sinh(X.astype(float) - 0.5)), rtol=1e-5)
    np.testing.assert_allclose(hi, np.arctan(np.sinh(X.astype(float) + 0.5)), rtol=1e-5)


def test_it_is_one_operation_of_a_program():
    program = dovetail.make_jaxpr(lambda x: gudermannian(x) + 1)(f32(1))
    assert "acme.gudermannian" in str(program)


@pytest.mark.parametrize("x", [np.int32(1), np.complex64(1j)])
def test_an_error_for_other_numbers(x):
    message = r"gudermannian takes real floating-point numbers, got (i32|c64)\[\] at .*Convert them"
    with pytest.raises(TypeError, match=message):
        jit(lambda x: gudermannian(x))(x)
