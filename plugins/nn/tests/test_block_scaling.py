"""Products of operands that are quantized block by block: how near they are, and what is exact."""

from functools import partial

import numpy as np
import pytest

import dovetail_nn as nn
from dovetail_ad import grad
from dovetail_jit import jit

RNG = np.random.default_rng(0)
X = RNG.normal(size=(2, 4, 64)).astype(np.float32)
Y = RNG.normal(size=(2, 6, 64)).astype(np.float32)
DIMS = (((2,), (2,)), ((0,), (0,)))
ERROR = {"mxfp8": 2**-4, "nvfp4": 2**-2}
"""Half a unit of the last digit of an element, relative to the largest of its block."""


def configs(mode, *args):
    return [nn.get_scaled_dot_general_config(mode, *args)] * 3


@pytest.mark.parametrize("mode", ERROR)
def test_products_are_as_near_as_their_format(mode):
    f = partial(nn.scaled_dot_general, dimension_numbers=DIMS, configs=configs(mode))
    wanted = np.einsum("bmk,bnk->bmn", X, Y)
    bound = 2 * ERROR[mode] * np.einsum("bmk,bnk->bmn", abs(X) + 0.5, abs(Y) + 0.5)
    for g in (f, jit(f)):
        result = g(X, Y)
        assert result.dtype == np.float32
        assert (abs(np.asarray(result) - wanted) <= bound).all()
        assert abs(np.asarray(result) - wanted).max() > 0


@pytest.mark.parametrize("mode", ERROR)
def test_what_the_format_holds_is_exact(mode):
    x = RNG.choice([-1.0, 0.0, 0.5, 1.0], size=(3, 40)).astype(np.float32)
    y = RNG.choice([-1.0, 0.0, 0.5, 1.0], size=(40, 5)).astype(np.float32)
    x[:, ::8] = y[::8] = 6.0 if mode == "nvfp4" else 1.0  # the largest of each block: scales of 1
    dims = (((1,), (0,)), ((), ()))
    result = nn.scaled_dot_general(x, y, dims, configs=configs(mode))
    np.testing.assert_array_equal(result, x @ y)


@pytest.mark.parametrize("mode", ERROR)
def test_zeros_and_large_numbers(mode):
    x = np.stack([np.zeros(32), np.full(32, 3e4)]).astype(np.float32)
    dims = (((1,), (1,)), ((), ()))
    result = np.asarray(nn.scaled_dot_general(x, x, dims, configs=configs(mode)))
    np.testing.assert_array_equal(result[0], [0, 0])
    largest = 3e4 if mode == "mxfp8" else 6 * 448  # of nvfp4 scales end there
    np.testing.assert_allclose(result[1, 1], 32 * largest**2, rtol=ERROR[mode])


def test_a_global_scale_is_a_factor_of_all_scales():
    scale = np.array([2.0], np.float32)
    one = nn.scaled_dot_general(X, Y, DIMS, configs=configs("nvfp4"))
    two = nn.scaled_dot_general(X, Y, DIMS, configs=configs("nvfp4", scale))
    np.testing.assert_array_equal(one, two)  # a power of two changes no rounding


@pytest.mark.parametrize("mode", ERROR)
def test_derivatives_are_quantized_products(mode):
    def loss(x, y, configs):
        return (nn.scaled_dot_general(x, y, DIMS, configs=configs) * 0.5).sum()

    for i, wanted in enumerate(grad(loss, (0, 1))(X, Y, None)):
        result = np.asarray(grad(loss, i)(X, Y, configs(mode)))
        assert result.shape == wanted.shape
        assert abs(result - wanted).max() <= 8 * ERROR[mode] * abs(np.asarray(wanted)).max()


def test_no_configs_and_other_types():
    wanted = np.einsum("bmk,bnk->bmn", X, Y)
    np.testing.assert_allclose(nn.scaled_dot_general(X, Y, DIMS), wanted, rtol=1e-5, atol=1e-5)
    result = nn.scaled_dot_general(X, Y, DIMS, "bfloat16", configs("mxfp8"))
    assert str(result.dtype) == "bfloat16"


def test_what_is_refused():
    with pytest.raises(ValueError, match=r"no block-scaled format 'x' at .*; known are 'mxfp8'"):
        nn.get_scaled_dot_general_config("x")
    with pytest.raises(ValueError, match="mxfp8 has no global scale"):
        nn.get_scaled_dot_general_config("mxfp8", np.ones(1))
    with pytest.raises(ValueError, match="three configs, for lhs, rhs and cotangents, got 1"):
        nn.scaled_dot_general(X, Y, DIMS, configs=configs("mxfp8")[:1])
