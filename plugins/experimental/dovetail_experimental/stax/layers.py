"""Dense layers, normalization, dropout, and functions of elements as layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import dovetail_nn as nn
import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_core import here
from dovetail_nn.initializers import glorot_normal, normal, ones, zeros

Layer = tuple[Callable[..., Any], Callable[..., Any]]

glorot, randn, logsoftmax = glorot_normal, normal, nn.log_softmax  # their names in stax
WEIGHTS, BIASES = glorot_normal(), normal()


def Dense(out_dim: int, W_init: Any = WEIGHTS, b_init: Any = BIASES) -> Layer:
    """``inputs @ W + b``; parameters are ``(W, b)``."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        W_rng, b_rng = random.split(rng)
        W = W_init(W_rng, (input_shape[-1], out_dim))
        return (*input_shape[:-1], out_dim), (W, b_init(b_rng, (out_dim,)))

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return dnp.dot(inputs, W) + b

    return init_fun, apply_fun


def BatchNorm(
    axis: int | Sequence[int] = (0, 1, 2), epsilon: float = 1e-5, center: bool = True,
    scale: bool = True, beta_init: Any = zeros, gamma_init: Any = ones,
) -> Layer:  # fmt: skip
    """Inputs standardized along ``axis``, times ``gamma`` (``scale``), plus ``beta`` (``center``).

    Parameters are ``(beta, gamma)``, with ``()`` for what is not used.
    """
    axes = tuple(axis) if isinstance(axis, Sequence) else (axis,)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        shape = tuple(d for i, d in enumerate(input_shape) if i not in axes)
        beta_rng, gamma_rng = random.split(rng)
        beta = beta_init(beta_rng, shape) if center else ()
        return input_shape, (beta, gamma_init(gamma_rng, shape) if scale else ())

    def apply_fun(params: Any, x: Any, **kwargs: Any) -> Any:
        beta, gamma = params
        spread = tuple(None if i in axes else slice(None) for i in range(dnp.ndim(x)))
        z = nn.standardize(x, axes, epsilon=epsilon)
        z = gamma[spread] * z if scale else z
        return z + beta[spread] if center else z

    return init_fun, apply_fun


def Dropout(rate: float, mode: str = "train") -> Layer:
    """Keep each element with probability ``rate``, divided by it; in another mode keep all.

    Raises:
        ValueError: when applied without a key, ``apply_fun(params, inputs, rng=key)``.
    """

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        rng = kwargs.get("rng")
        if rng is None:
            raise ValueError(
                f"Dropout is applied without a random key{here()}. Give one to the function: "
                "apply_fun(params, inputs, rng=dovetail.random.key(0))"
            )
        if mode != "train":
            return inputs
        keep = random.bernoulli(rng, rate, inputs.shape)
        return dnp.where(keep, inputs / rate, 0)

    return init_fun, apply_fun


def elementwise(fun: Callable[..., Any], **fun_kwargs: Any) -> Layer:
    """A layer that applies ``fun(inputs, **fun_kwargs)``, which keeps the shape."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return input_shape, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return fun(inputs, **fun_kwargs)

    return init_fun, apply_fun


Flatten: Layer = (
    lambda rng, input_shape: ((input_shape[0], prod(input_shape[1:])), ()),
    lambda params, inputs, **kwargs: dnp.reshape(inputs, (inputs.shape[0], prod(inputs.shape[1:]))),
)
"""All axes but the first as one."""

Elu = elementwise(nn.elu)
Exp = elementwise(dnp.exp)
Gelu = elementwise(nn.gelu)
LeakyRelu = elementwise(nn.leaky_relu)
LogSoftmax = elementwise(nn.log_softmax, axis=-1)
Relu = elementwise(nn.relu)
Selu = elementwise(nn.selu)
Sigmoid = elementwise(nn.sigmoid)
Softmax = elementwise(nn.softmax, axis=-1)
Softplus = elementwise(nn.softplus)
Tanh = elementwise(dnp.tanh)
