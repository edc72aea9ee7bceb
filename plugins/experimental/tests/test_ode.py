"""odeint against closed forms and SciPy, its derivatives against finite differences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import dovetail_numpy as dnp
from dovetail_ad import grad, jacrev
from dovetail_backends.testing import evaluated_by_reference
from dovetail_batching import vmap
from dovetail_core import enable_x64
from dovetail_experimental import ode
from dovetail_experimental.ode import odeint
from dovetail_jit import jit
from dovetail_tree.util import tree_leaves, tree_map

TIMES = np.linspace(0.0, 2.0, 5)


@pytest.fixture(autouse=True)
def evaluation() -> Iterator[None]:
    """By NumPy, which need not compile; what is compiled is so where ``jit`` is asked."""
    with evaluated_by_reference():
        yield


def decay(y: Any, t: Any, rate: Any = 1.0) -> Any:
    return -rate * y


def pendulum(y: Any, t: Any, friction: Any, weight: Any) -> Any:
    angle, speed = y
    return speed, -friction * speed - weight * dnp.sin(angle) + dnp.cos(t)


def test_decay_is_exponential():
    result = odeint(decay, 1.0, TIMES.astype(np.float32))
    assert result.dtype == np.float32
    np.testing.assert_allclose(result, np.exp(-TIMES), rtol=1e-5)


def test_pytrees_against_scipy():
    with enable_x64():
        result = odeint(pendulum, (0.3, np.array(-0.1)), TIMES, 0.25, 5.0, rtol=1e-10, atol=1e-10)
        wanted = solve_ivp(
            lambda t, y: (y[1], -0.25 * y[1] - 5.0 * np.sin(y[0]) + np.cos(t)),
            (0.0, 2.0), [0.3, -0.1], "DOP853", TIMES, rtol=1e-12, atol=1e-12,
        )  # fmt: skip
        assert isinstance(result, tuple)
        np.testing.assert_allclose(result, wanted.y, atol=1e-8)


def test_a_system_of_any_shape_and_complex_numbers():
    turn = np.array([[0.0, 1.0], [-1.0, 0.0]])
    with enable_x64():
        result = odeint(lambda y, t: dnp.dot(turn, y), np.eye(2), TIMES)
        c, s = np.cos(TIMES), np.sin(TIMES)
        np.testing.assert_allclose(
            result, np.array([[c, s], [-s, c]]).transpose(2, 0, 1), atol=1e-7
        )
        result = odeint(lambda y, t: 1j * y, 1.0 + 0j, TIMES)
        np.testing.assert_allclose(result, c + 1j * s, atol=1e-7)


def test_dtypes_of_leaves_stay():
    y0 = {"half": np.ones(2, np.float16), "single": np.ones(3, np.float32), "whole": 1}
    result = odeint(
        lambda y, t: tree_map(lambda x: -x, y), y0, TIMES.astype(np.float32), rtol=1e-3, atol=1e-3
    )
    assert [(x.shape, x.dtype) for x in tree_leaves(result)] == [
        ((5, 2), np.float16), ((5, 3), np.float32), ((5,), np.float32)
    ]  # fmt: skip
    np.testing.assert_allclose(result["half"][:, 0], np.exp(-TIMES), rtol=1e-2)


def test_jit_and_vmap():
    rates = np.array([0.5, 1.0, 4.0])
    with enable_x64():
        result = vmap(jit(lambda k: odeint(decay, 1.0, TIMES, k)))(rates)
        np.testing.assert_allclose(result, np.exp(-rates[:, None] * TIMES), atol=1e-7)
        slopes = jit(vmap(grad(lambda k: odeint(decay, 1.0, TIMES, k)[-1])))(rates)
        np.testing.assert_allclose(slopes, -2 * np.exp(-2 * rates), atol=1e-6)


def test_gradients_against_finite_differences():
    def loss(y0: Any, t: Any, friction: Any, weight: Any, closed: Any) -> Any:
        def f(y: Any, t: Any, friction: Any, weights: Any) -> Any:
            return tree_map(lambda x: closed * x, pendulum(y, t, friction, weights["w"]))

        result = odeint(f, (y0[0], y0[1]), t, friction, {"w": weight}, rtol=1e-11, atol=1e-11)
        return sum(((i + 1) * x**2).sum() for i, x in enumerate(result))

    with enable_x64():
        at = [np.array([0.3, -0.1]), TIMES + 0.1, np.array(0.25), np.array(5.0), np.array(0.7)]
        result = grad(loss, argnums=(0, 1, 2, 3, 4))(*at)
        run = jit(loss)
        for i, x in enumerate(at):
            for j in np.ndindex(x.shape):
                e = np.zeros_like(x)
                e[j] = 1e-5
                up, down = [*at], [*at]
                up[i], down[i] = x + e, x - e
                wanted = (run(*up) - run(*down)) / 2e-5
                np.testing.assert_allclose(result[i][j], wanted, rtol=1e-6, atol=1e-6)


def test_second_derivatives():
    with enable_x64():
        f = grad(grad(lambda k: odeint(decay, 1.0, TIMES, k, rtol=1e-10, atol=1e-10)[-1]))
        np.testing.assert_allclose(f(1.0), 4 * np.exp(-2.0), rtol=1e-6)


def test_arguments_without_derivatives():
    def f(y: Any, t: Any, k: Any, n: Any, mask: Any) -> Any:
        return dnp.where(mask, -k * y * n, 0.0)

    with enable_x64():
        mask = np.array([True, False])
        jacobian = jacrev(lambda k: odeint(f, np.ones(2), TIMES, k, 2, mask)[-1])(1.0)
        np.testing.assert_allclose(jacobian, [-4 * np.exp(-4.0), 0.0], atol=1e-7)


def test_equal_times_repeat_and_one_time_is_the_start():
    result = odeint(decay, 1.0, np.array([0.0, 0.0, 1.0, 1.0], np.float32))
    np.testing.assert_allclose(result, [1.0, 1.0, np.exp(-1.0), np.exp(-1.0)], rtol=1e-5)
    np.testing.assert_array_equal(odeint(decay, 2.0, np.zeros(1, np.float32)), [2.0])


def test_states_that_are_not_reached_are_nan():
    t = TIMES.astype(np.float32)
    result = odeint(decay, 1.0, t, mxstep=1)
    assert result[0] == 1 and np.isnan(result[1:]).all()
    result = odeint(lambda y, t: y * y, 1.0, t)  # infinite at 1
    np.testing.assert_allclose(result[:2], [1.0, 2.0], rtol=1e-5)
    assert np.isnan(result[3:]).all()
    assert np.isnan(odeint(decay, 1.0, t[::-1])[1:]).all()


def test_far_times_move_although_they_are_coarse():
    t = np.array([0.0, 1.0], np.float32) + 3e4
    np.testing.assert_allclose(odeint(decay, 0.0 + 1, t), [1.0, np.exp(-1.0)], rtol=1e-2)


def test_short_steps_find_what_long_ones_step_over():
    def bump(y: Any, t: Any) -> Any:
        return dnp.exp(-(((t - 5.0) * 50) ** 2))

    with enable_x64():
        t = np.array([0.0, 10.0])
        wanted = np.sqrt(np.pi) / 50
        np.testing.assert_allclose(odeint(bump, 0.0, t, hmax=0.01)[-1], wanted, rtol=1e-6)


def test_a_step_is_of_order_five_and_its_polynomial_of_four():
    def f(y: Any, t: Any) -> Any:
        return dnp.array([5 * t**4])

    with enable_x64():
        y0, t0, dt = dnp.zeros(1), dnp.asarray(0.0), dnp.asarray(0.5)
        y1, f1, error, k = ode.runge_kutta_step(f, y0, f(y0, t0), t0, dt)
        np.testing.assert_allclose(y1, [0.5**5], rtol=1e-12)
        np.testing.assert_allclose(f1, f(y1, 0.5))
        assert k.shape == (7, 1) and error.shape == (1,)
        wanted = np.poly1d([3.0, -2.0, 1.0, 4.0, 2.0])
        slope = wanted.deriv()
        result = ode.fit_4th_order_polynomial(
            *(dnp.asarray(x) for x in (wanted(0), wanted(1), wanted(0.5))),
            dnp.asarray(slope(0) / 2), dnp.asarray(slope(1) / 2), 2.0,
        )  # fmt: skip
        np.testing.assert_allclose(result, wanted.coef, atol=1e-12)
        middle = ode.interp_fit_dopri(y0, y1, k, dt)
        np.testing.assert_allclose(dnp.polyval(middle, 1.0), y1, rtol=1e-12)


def test_step_sizes():
    assert ode.optimal_step_size(0.5, 0.0) == 5.0
    np.testing.assert_allclose(ode.optimal_step_size(1.0, 32.0), 0.45, rtol=1e-6)
    np.testing.assert_allclose(ode.optimal_step_size(1.0, 1e9), 0.2, rtol=1e-6)
    np.testing.assert_allclose(ode.optimal_step_size(1.0, 0.99), 1.0, rtol=1e-6)
    one = np.ones(4, np.float32)
    np.testing.assert_allclose(ode.mean_error_ratio(3e-3 * one, 1e-3, 2e-3, one, -one), 1.0, 1e-6)
    np.testing.assert_allclose(ode.abs2(np.array(3 + 4j)), 25.0)


def test_wrong_arguments_are_told():
    t = TIMES.astype(np.float32)
    with pytest.raises(TypeError, match=r"must be floating-point numbers, got int32 at .*py:"):
        odeint(decay, 1.0, np.arange(3, dtype=np.int32))
    with pytest.raises(ValueError, match=r"t must be a vector of times, .* got shape \(\) at"):
        odeint(decay, 1.0, 2.0)
    with pytest.raises(ValueError, match=r"t must be a vector of times, .* got shape \(0,\) at"):
        odeint(decay, 1.0, t[:0])
    with pytest.raises(TypeError, match="args must be arrays or numbers, got 'a' at"):
        odeint(decay, 1.0, t, "a")
    with pytest.raises(TypeError, match="func must return a pytree like y0"):
        odeint(lambda y, t: (y, y), 1.0, t)
    with pytest.raises(ValueError, match=r"an array of shape \(2,\) .* got shape \(3,\)"):
        odeint(lambda y, t: np.ones(3), np.ones(2), t)


def test_a_state_without_arrays():
    assert odeint(lambda y, t: y, {}, TIMES.astype(np.float32)) == {}
