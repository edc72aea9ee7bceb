"""Layers made of layers, and layers that part and join values between them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import dovetail_numpy as dnp
import dovetail_random as random
from dovetail_core import here

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def serial(*layers: Layer) -> Layer:
    """The layers one after the other; parameters are a list with those of each layer."""
    inits, applies = _parts("serial", layers)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        params: list[Any] = []
        for init in inits:
            rng, layer_rng = random.split(rng)
            input_shape, param = init(layer_rng, input_shape)
            params.append(param)
        return input_shape, params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(applies))
        for apply, param, rng in zip(applies, params, keys):
            inputs = apply(param, inputs, rng=rng, **kwargs)
        return inputs

    return init_fun, apply_fun


def parallel(*layers: Layer) -> Layer:
    """The layers side by side: each takes one of a sequence of inputs, as of :func:`FanOut`."""
    inits, applies = _parts("parallel", layers)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        keys = _keys(rng, len(inits))
        result = [init(k, shape) for init, k, shape in zip(inits, keys, input_shape)]
        return tuple(shape for shape, _ in result), tuple(param for _, param in result)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        keys = _keys(kwargs.pop("rng", None), len(applies))
        rows = zip(applies, params, inputs, keys)
        return [apply(p, x, rng=rng, **kwargs) for apply, p, x, rng in rows]

    return init_fun, apply_fun


def shape_dependent(make_layer: Callable[[Any], Layer]) -> Layer:
    """A layer that is made when the shape of its input is known: ``make_layer(input_shape)``."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return make_layer(input_shape)[0](rng, input_shape)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return make_layer(inputs.shape)[1](params, inputs, **kwargs)

    return init_fun, apply_fun


def FanOut(num: int) -> Layer:
    """The input ``num`` times, for :func:`parallel`."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        return [input_shape] * num, ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return [inputs] * num

    return init_fun, apply_fun


def FanInConcat(axis: int = -1) -> Layer:
    """The inputs put together along an axis."""

    def init_fun(rng: Any, input_shape: Any) -> Any:
        first = tuple(input_shape[0])
        at = axis % len(first)
        return (*first[:at], sum(s[at] for s in input_shape), *first[at + 1 :]), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return dnp.concatenate(inputs, axis)

    return init_fun, apply_fun


def _same(rng: Any, input_shape: Any) -> Any:
    return input_shape, ()


Identity: Layer = _same, lambda params, inputs, **kwargs: inputs
"""The input as it is."""

FanInSum: Layer = (
    lambda rng, input_shape: (input_shape[0], ()),
    lambda params, inputs, **kwargs: sum(inputs),
)
"""The sum of the inputs."""


def _parts(name: str, layers: Any) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
    for i, layer in enumerate(layers):
        if not (isinstance(layer, (tuple, list)) and len(layer) == 2):
            raise TypeError(
                f"{name}: layer {i} must be a pair (init_fun, apply_fun), got {layer!r}{here()}. "
                "Layers that take parameters have to be called: Dense(10)."
            )
    return tuple(init for init, _ in layers), tuple(apply for _, apply in layers)


def _keys(rng: Any, n: int) -> Any:
    return (None,) * n if rng is None else random.split(rng, n)
