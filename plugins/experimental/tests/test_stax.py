"""Layers against NumPy: shapes that are foretold, values, and what is random by its keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_random as random
from dovetail_ad import grad
from dovetail_experimental import stax
from dovetail_jit import jit
from dovetail_tree.util import tree_leaves, tree_map, tree_structure

KEY = random.key(0)
IMAGES = np.sin(np.arange(2 * 5 * 6 * 3.0)).reshape(2, 5, 6, 3).astype(np.float32)
ROWS = np.cos(np.arange(12.0)).reshape(3, 4).astype(np.float32)

LAYERS = {
    "Dense": (stax.Dense(5), ROWS),
    "Conv": (stax.Conv(4, (2, 3), padding="SAME", strides=(2, 2)), IMAGES),
    "ConvTranspose": (stax.ConvTranspose(4, (3, 3), (2, 2), "SAME"), IMAGES),
    "Conv1DTranspose": (stax.Conv1DTranspose(2, (2,), (3,)), IMAGES[0]),
    "GeneralConv": (stax.GeneralConv(("NCHW", "OIHW", "NCHW"), 4, (2, 3)), IMAGES),
    "MaxPool": (stax.MaxPool((2, 2), (2, 1)), IMAGES),
    "SumPool": (stax.SumPool((2, 2), spec="NCHW"), IMAGES),
    "AvgPool": (stax.AvgPool((2, 2), padding="SAME"), IMAGES),
    "BatchNorm": (stax.BatchNorm(), IMAGES),
    "Flatten": (stax.Flatten, IMAGES),
    "Dropout": (stax.Dropout(0.5), ROWS),
    "shape_dependent": (stax.shape_dependent(lambda shape: stax.Dense(shape[-1])), ROWS),
    "both": (
        stax.serial(
            stax.Conv(4, (3, 3)), stax.Relu, stax.FanOut(3),
            stax.parallel(stax.Conv(4, (3, 3), padding="SAME"), stax.Identity, stax.BatchNorm()),
            stax.FanInSum, stax.AvgPool((2, 2)), stax.Flatten, stax.Dense(5), stax.LogSoftmax,
        ),
        IMAGES,
    ),
    "FanInConcat": (
        stax.serial(
            stax.FanOut(2), stax.parallel(stax.Dense(2), stax.Dense(3)), stax.FanInConcat()
        ),
        ROWS,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", LAYERS)
def test_layers_have_the_shape_that_they_foretell(name: str):
    (init, apply), x = LAYERS[name]
    shape, params = init(KEY, x.shape)
    result = jit(apply)(params, x, rng=KEY)
    assert result.shape == tuple(shape) and all(type(n) is int for n in shape)
    unknown, again = init(KEY, (-1, *x.shape[1:]))
    assert tuple(unknown) == (-1, *shape[1:])
    assert tree_structure(again) == tree_structure(params)


def test_dense_layers_multiply_and_add():
    init, apply = stax.Dense(5)
    W, b = init(KEY, ROWS.shape)[1]
    np.testing.assert_allclose(apply((W, b), ROWS), ROWS @ np.asarray(W) + b, rtol=1e-5)
    W_key, b_key = random.split(KEY)
    np.testing.assert_array_equal(W, stax.glorot()(W_key, (4, 5)))
    np.testing.assert_array_equal(b, stax.randn()(b_key, (5,)))


def test_convolutions_are_sums_over_windows():
    init, apply = stax.Conv(2, (2, 2), b_init=stax.ones)
    W, b = init(KEY, IMAGES.shape)[1]
    wanted = sum(
        IMAGES[:, i : 4 + i, j : 5 + j] @ np.asarray(W)[i, j] for i in (0, 1) for j in (0, 1)
    )
    np.testing.assert_allclose(apply((W, b), IMAGES), wanted + 1, rtol=1e-4, atol=1e-5)


def test_pools_against_numpy():
    windows = np.lib.stride_tricks.sliding_window_view(IMAGES, (2, 3), (1, 2))
    for pool, numpy in (stax.MaxPool, np.max), (stax.SumPool, np.sum), (stax.AvgPool, np.mean):
        result = pool((2, 3))[1]((), IMAGES)
        np.testing.assert_allclose(result, numpy(windows, (-2, -1)), rtol=1e-4, atol=1e-5)
        turned = pool((2, 3), spec="CHWN")[1]((), IMAGES.transpose(3, 1, 2, 0))
        np.testing.assert_array_equal(np.transpose(turned, (3, 1, 2, 0)), result)


def test_means_leave_padding_out():
    result = stax.AvgPool((3, 3), padding="SAME")[1]((), np.ones_like(IMAGES))
    np.testing.assert_allclose(result, np.ones_like(IMAGES), rtol=1e-6)


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_normalized_batches(center: bool, scale: bool):
    init, apply = stax.BatchNorm(0, 0.0, center, scale, stax.randn(), stax.randn())
    _, params = init(KEY, ROWS.shape)
    beta, gamma = params
    assert isinstance(beta, tuple) is not center and isinstance(gamma, tuple) is not scale
    wanted = (ROWS - ROWS.mean(0)) / ROWS.std(0)
    wanted = wanted * gamma if scale else wanted
    np.testing.assert_allclose(apply(params, ROWS), wanted + beta if center else wanted, atol=1e-5)


def test_dropout_keeps_a_part_and_the_mean():
    _, apply = stax.Dropout(0.8)
    result = np.asarray(apply((), np.ones(4000, np.float32), rng=KEY))
    assert set(result) == {0.0, np.float32(1.25)} and abs(result.mean() - 1) < 0.05
    np.testing.assert_array_equal(stax.Dropout(0.8, "test")[1]((), ROWS, rng=KEY), ROWS)
    with pytest.raises(ValueError, match=r"Dropout is applied without a random key at .*py:"):
        apply((), ROWS)


@pytest.mark.parametrize("name", ["Elu", "Gelu", "LeakyRelu", "Relu", "Selu", "Sigmoid",
                                  "Softplus", "Softmax", "LogSoftmax"])  # fmt: skip
def test_layers_of_elements(name: str):
    functions = {"LeakyRelu": "leaky_relu", "LogSoftmax": "logsoftmax"}
    function: Any = getattr(stax, functions.get(name, name.lower()))
    init, apply = getattr(stax, name)
    assert init(KEY, (3, 4)) == ((3, 4), ())
    np.testing.assert_array_equal(apply((), ROWS), function(ROWS))
    np.testing.assert_allclose(stax.Exp[1]((), ROWS), np.exp(ROWS), rtol=1e-5)
    np.testing.assert_allclose(stax.Tanh[1]((), ROWS), np.tanh(ROWS), rtol=1e-5)


def test_a_network_is_differentiable():
    (init, apply), x = LAYERS["both"]
    _, params = init(KEY, x.shape)
    slopes = grad(lambda p: -apply(p, x)[:, 0].sum())(params)
    assert tree_structure(slopes) == tree_structure(params)
    better = tree_map(lambda p, g: p - 0.01 * g, params, slopes)
    assert apply(better, x)[:, 0].sum() > apply(params, x)[:, 0].sum()
    assert all(np.isfinite(g).all() for g in tree_leaves(slopes))


def test_wrong_layers_are_told():
    with pytest.raises(TypeError, match=r"serial: layer 1 must be a pair .* at .*py:.*Dense\(10\)"):
        stax.serial(stax.Relu, stax.Dense)
    with pytest.raises(ValueError, match=r"MaxPool: spec must have N, C .* got 'HW' at .*py:"):
        stax.MaxPool((2, 2), spec="HW")
