"""Convolutions as layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dovetail_lax as lax
import dovetail_random as random
from dovetail_nn.initializers import glorot_normal, normal

Layer = tuple[Callable[..., Any], Callable[..., Any]]

BIASES = normal(1e-6)


def GeneralConv(
    dimension_numbers: Any, out_chan: int, filter_shape: Sequence[int],
    strides: Sequence[int] | None = None, padding: Any = "VALID", W_init: Any = None,
    b_init: Any = BIASES,
) -> Layer:  # fmt: skip
    """A convolution and a bias for each channel; parameters are ``(W, b)``.

    Args:
        dimension_numbers: what the axes of inputs, filters and outputs are: three strings,
            ``("NHWC", "HWIO", "NHWC")``.
        out_chan: channels of the output.
        filter_shape: the window's extent in each spatial dimension.
        strides: the window's steps; 1 unless given.
        padding: ``"VALID"``, ``"SAME"``, or pairs of numbers.
    """
    steps = strides or (1,) * len(filter_shape)

    def shape_of(inputs: Any, kernel: Any) -> Any:
        return lax.conv_general_shape_tuple(inputs, kernel, steps, padding, dimension_numbers)

    def apply(inputs: Any, W: Any) -> Any:
        return lax.conv_general_dilated(
            inputs, W, steps, padding, dimension_numbers=dimension_numbers
        )

    return _layer(dimension_numbers, out_chan, filter_shape, W_init, b_init, shape_of, apply)


def GeneralConvTranspose(
    dimension_numbers: Any, out_chan: int, filter_shape: Sequence[int],
    strides: Sequence[int] | None = None, padding: Any = "VALID", W_init: Any = None,
    b_init: Any = BIASES,
) -> Layer:  # fmt: skip
    """As :func:`GeneralConv`, a convolution transposed: its strides make the output larger."""
    steps = strides or (1,) * len(filter_shape)

    def shape_of(inputs: Any, kernel: Any) -> Any:
        return lax.conv_transpose_shape_tuple(inputs, kernel, steps, padding, dimension_numbers)

    def apply(inputs: Any, W: Any) -> Any:
        return lax.conv_transpose(inputs, W, steps, padding, dimension_numbers=dimension_numbers)

    return _layer(dimension_numbers, out_chan, filter_shape, W_init, b_init, shape_of, apply)


IMAGES = ("NHWC", "HWIO", "NHWC")
Conv = partial(GeneralConv, IMAGES)
ConvTranspose = partial(GeneralConvTranspose, IMAGES)
Conv1DTranspose = partial(GeneralConvTranspose, ("NHC", "HIO", "NHC"))


def _layer(
    dimension_numbers: Any, out_chan: int, filter_shape: Sequence[int], W_init: Any, b_init: Any,
    shape_of: Callable[[Any, Any], Any], apply: Callable[[Any, Any], Any],
) -> Layer:  # fmt: skip
    inputs_spec, filters_spec, outputs_spec = dimension_numbers
    W_init = W_init or glorot_normal(filters_spec.index("I"), filters_spec.index("O"))

    def init_fun(rng: Any, input_shape: Any) -> Any:
        window = iter(filter_shape)
        channels = {"O": out_chan, "I": input_shape[inputs_spec.index("C")]}
        kernel = tuple(channels[c] if c in channels else next(window) for c in filters_spec)
        W_rng, b_rng = random.split(rng)
        bias = tuple(out_chan if c == "C" else 1 for c in outputs_spec)
        params = W_init(W_rng, kernel), b_init(b_rng, bias)
        return tuple(int(n) for n in shape_of(tuple(input_shape), kernel)), params

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        W, b = params
        return apply(inputs, W) + b

    return init_fun, apply_fun
