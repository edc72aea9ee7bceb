"""Optimizers against their formulas in NumPy, for one parameter and for pytrees."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_experimental import optimizers
from dovetail_jit import jit
from dovetail_tree.util import tree_leaves, tree_map, tree_structure

PARAMS = {
    "a": np.sin(np.arange(6.0)).reshape(2, 3).astype(np.float32),
    "b": (np.float32(0.5), np.arange(3, dtype=np.float32)),
}


def slope(x: Any) -> Any:
    return np.cos(x) * (x > 0)


def sgd(x, g, i, s):
    return x - 0.1 * g


def momentum(x, g, i, s):
    s["v"] = 0.9 * s["v"] + g
    return x - 0.1 * s["v"]


def nesterov(x, g, i, s):
    s["v"] = 0.9 * s["v"] + g
    return x - 0.1 * (0.9 * s["v"] + g)


def adagrad(x, g, i, s):
    s["q"] = s["q"] + g * g
    with np.errstate(divide="ignore"):
        inverse = np.where(s["q"] > 0, 1 / np.sqrt(s["q"]), 0)
    s["v"] = 0.1 * g * inverse + 0.9 * s["v"]
    return x - 0.1 * s["v"]


def rmsprop(x, g, i, s):
    s["q"] = 0.9 * s["q"] + 0.1 * g * g
    return x - 0.1 * g / np.sqrt(s["q"] + 1e-8)


def rmsprop_momentum(x, g, i, s):
    s["q"] = 0.9 * s["q"] + 0.1 * g * g
    s["v"] = 0.9 * s["v"] + 0.1 * g / np.sqrt(s["q"] + 1e-8)
    return x - s["v"]


def adam(x, g, i, s):
    s["v"] = 0.9 * s["v"] + 0.1 * g
    s["q"] = 0.999 * s["q"] + 0.001 * g * g
    unbiased, spread = s["v"] / (1 - 0.9 ** (i + 1)), s["q"] / (1 - 0.999 ** (i + 1))
    return x - 0.1 * unbiased / (np.sqrt(spread) + 1e-8)


def adamax(x, g, i, s):
    s["v"] = 0.9 * s["v"] + 0.1 * g
    s["q"] = np.maximum(0.999 * s["q"], abs(g))
    return x - 0.1 / (1 - 0.9 ** (i + 1)) * s["v"] / (s["q"] + 1e-8)


def sm3(x, g, i, s):
    shape = np.shape(x) or (1,)
    sums = s.setdefault("sums", [np.zeros(n) for n in shape])
    others = [tuple(j for j in range(len(shape)) if j != k) for k in range(len(shape))]
    bounds = [np.expand_dims(one, axes) for one, axes in zip(sums, others)]
    squares = np.min(np.broadcast_arrays(*bounds), 0) + g * g
    s["sums"] = [squares.max(axes) for axes in others]
    with np.errstate(divide="ignore"):
        inverse = np.where(squares > 0, 1 / np.sqrt(squares), 0).reshape(np.shape(x))
    s["v"] = 0.1 * g * inverse + 0.9 * s["v"]
    return x - 0.1 * s["v"]


MASSES = {"momentum": (0.9,), "nesterov": (0.9,)}
FORMULAS = [sgd, momentum, nesterov, adagrad, rmsprop, rmsprop_momentum, adam, adamax, sm3]


@pytest.mark.parametrize("formula", FORMULAS, ids=lambda f: f.__name__)
def test_steps_follow_the_formula(formula: Any):
    name = formula.__name__
    made = getattr(optimizers, name)(0.1, *MASSES.get(name, ()))
    assert isinstance(made, optimizers.Optimizer)
    init, update, get_params = made
    state, update = init(PARAMS), jit(update)
    wanted = [np.asarray(x, np.float64) for x in tree_leaves(PARAMS)]
    memory: list[dict[str, Any]] = [{"v": 0.0, "q": 0.0} for _ in wanted]
    for i in range(4):
        gradients = tree_map(lambda x: np.float32(slope(np.asarray(x))), get_params(state))
        state = update(i, gradients, state)
        wanted = [formula(x, slope(x), i, s) for x, s in zip(wanted, memory)]
    result = get_params(state)
    assert tree_structure(result) == tree_structure(PARAMS)
    for x, y in zip(tree_leaves(result), wanted):
        assert x.shape == y.shape and x.dtype == np.float32
        np.testing.assert_allclose(x, y, rtol=2e-5, atol=2e-6)


def test_schedules():
    o, i = optimizers, np.arange(6)
    np.testing.assert_allclose([o.constant(2.0)(k) for k in i], 2.0)
    result = [o.exponential_decay(2.0, 3, 0.5)(k) for k in i]
    np.testing.assert_allclose(result, 2 * 0.5 ** (i / 3), rtol=1e-6)
    result = [o.inverse_time_decay(2.0, 3, 0.5)(k) for k in i]
    np.testing.assert_allclose(result, 2 / (1 + 0.5 * i / 3), rtol=1e-6)
    result = [o.inverse_time_decay(2.0, 3, 0.5, staircase=True)(k) for k in i]
    np.testing.assert_allclose(result, 2 / (1 + 0.5 * (i // 3)), rtol=1e-6)
    result = [o.polynomial_decay(2.0, 3, 0.5, 2.0)(k) for k in i]
    np.testing.assert_allclose(result, 1.5 * (1 - np.minimum(i, 3) / 3) ** 2 + 0.5, rtol=1e-6)
    result = [o.piecewise_constant([1, 4], [3.0, 2.0, 1.0])(k) for k in i]
    np.testing.assert_allclose(result, [3, 3, 2, 2, 2, 1])
    schedule = o.constant(1.0)
    assert o.make_schedule(schedule) is schedule and o.make_schedule(0.5)(7) == 0.5


def test_a_step_size_may_be_a_schedule():
    init, update, get_params = optimizers.sgd(optimizers.piecewise_constant([1], [1.0, 0.5]))
    state, step = init(np.float32(0)), jit(update)
    for i in range(3):
        state = step(i, np.float32(1), state)
    assert get_params(state) == -2.5


def test_states_are_packed_as_they_were():
    init, _, get_params = optimizers.adam(0.1)
    state = init(PARAMS)
    marked = optimizers.unpack_optimizer_state(state)
    assert isinstance(marked["b"][1], optimizers.JoinPoint)
    (x, mean, squares) = marked["b"][1].subtree
    np.testing.assert_array_equal(x, PARAMS["b"][1])
    assert [*marked["a"]] == [marked["a"].subtree] and not np.any(mean) and not np.any(squares)
    packed = optimizers.pack_optimizer_state(marked)
    assert isinstance(packed, optimizers.OptimizerState)
    assert tree_structure(packed) == tree_structure(state)
    for a, b in zip(tree_leaves(get_params(packed)), tree_leaves(PARAMS)):
        np.testing.assert_array_equal(a, b)


def test_norms_and_clipping():
    tree = [np.array([3.0], np.float32), (np.array([[4.0]], np.float32),)]
    assert optimizers.l2_norm(tree) == 5
    short = tree_map(lambda x: x / 5, tree)
    for limit, wanted in (1.0, short), (9.0, tree):
        result = optimizers.clip_grads(tree, limit)
        for x, y in zip(tree_leaves(result), tree_leaves(wanted)):
            np.testing.assert_allclose(x, y, rtol=1e-6)


def test_a_new_optimizer_of_arrays_is_one_of_pytrees():
    @optimizers.optimizer
    def signs(size: float) -> Any:
        """By the sign alone."""
        return lambda x: x, lambda i, g, x: x - size * dnp.sign(g), lambda x: x

    assert signs.__name__ == "signs" and signs.__doc__ == "By the sign alone."
    init, update, get_params = signs(0.5)
    state = update(0, tree_map(lambda x: -x, PARAMS), init(PARAMS))
    np.testing.assert_allclose(get_params(state)["b"][1], [0.0, 1.5, 2.5])


def test_wrong_arguments_are_told():
    init, update, _ = optimizers.momentum(0.1, 0.9)
    with pytest.raises(TypeError, match=r"the update of momentum takes gradients .* at .*py:"):
        update(0, [1.0], init(PARAMS))
    changing = optimizers.optimizer(lambda: (lambda x: x, lambda i, g, x: (x, g), lambda x: x))()
    with pytest.raises(TypeError, match=r"changed the structure of a state .* at .*py:"):
        changing.update_fn(0, 1.0, changing.init_fn(1.0))
    with pytest.raises(TypeError, match=r"takes a pytree of JoinPoints, .* of type int at .*py:"):
        optimizers.pack_optimizer_state([1])
    with pytest.raises(TypeError, match=r"a step size must be a number or a function .* at .*py:"):
        optimizers.sgd("fast")
    with pytest.raises(ValueError, match=r"must be sequences .* shapes \(\) and \(2,\) at .*py:"):
        optimizers.piecewise_constant(1, [1.0, 2.0])
    with pytest.raises(ValueError, match=r"got 2 boundaries and 2 values at .*py:"):
        optimizers.piecewise_constant([1, 2], [1.0, 2.0])
