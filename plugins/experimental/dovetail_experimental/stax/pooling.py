"""Pooling over windows as layers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_core import here

Layer = tuple[Callable[..., Any], Callable[..., Any]]


def MaxPool(
    window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:  # fmt: skip
    """The maximum of each window.

    Args:
        window_shape: the window's extent in each spatial dimension.
        strides: the window's steps; 1 unless given.
        padding: ``"VALID"`` or ``"SAME"``.
        spec: where batch (``N``) and channels (``C``) are, ``"NCHW"``; first and last unless given.
    """
    return _pool("MaxPool", -np.inf, lax.max, window_shape, strides, padding, spec)


def SumPool(
    window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:  # fmt: skip
    """The sum of each window; arguments as of :func:`MaxPool`."""
    return _pool("SumPool", 0.0, lax.add, window_shape, strides, padding, spec)


def AvgPool(
    window_shape: Sequence[int], strides: Sequence[int] | None = None, padding: Any = "VALID",
    spec: str | None = None,
) -> Layer:  # fmt: skip
    """The mean of each window's elements, padding left out; arguments as of :func:`MaxPool`."""
    init_fun, total = _pool("AvgPool", 0.0, lax.add, window_shape, strides, padding, spec)

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        batch, channels = _outer("AvgPool", window_shape, spec)
        one = [1 if i in (batch, channels) else n for i, n in enumerate(inputs.shape)]
        counts = total((), dnp.ones(one, inputs.dtype))
        return total((), inputs) / counts

    return init_fun, apply_fun


def _pool(
    name: str, start: float, reducer: Any, window_shape: Sequence[int],
    strides: Sequence[int] | None, padding: Any, spec: str | None,
) -> Layer:  # fmt: skip
    outer = _outer(name, window_shape, spec)
    window = _with_ones(window_shape, outer)
    steps = _with_ones(strides or (1,) * len(window_shape), outer)

    def init_fun(rng: Any, input_shape: Any) -> Any:
        # The batch's size need not be known; -1 stands for it, and is no length.
        known = [1 if i in outer else n for i, n in enumerate(input_shape)]
        pads = padding
        if isinstance(padding, str):
            pads = lax.padtype_to_pads(known, window, steps, padding)
        out = lax.reduce_window_shape_tuple(known, window, steps, pads)
        return tuple(input_shape[i] if i in outer else int(n) for i, n in enumerate(out)), ()

    def apply_fun(params: Any, inputs: Any, **kwargs: Any) -> Any:
        return lax.reduce_window(inputs, start, reducer, window, steps, padding)

    return init_fun, apply_fun


def _outer(name: str, window_shape: Sequence[int], spec: str | None) -> tuple[int, int]:
    """The axes of the batch and of the channels."""
    if spec is None:
        return 0, len(window_shape) + 1
    if len(spec) != len(window_shape) + 2 or not {"N", "C"} <= {*spec}:
        raise ValueError(
            f"{name}: spec must have N, C and a letter for each of the {len(window_shape)} axes of "
            f"the window, such as 'NHWC', got {spec!r}{here()}"
        )
    return spec.index("N"), spec.index("C")


def _with_ones(lengths: Sequence[int], outer: tuple[int, int]) -> tuple[int, ...]:
    rest = iter(lengths)
    return tuple(1 if i in outer else next(rest) for i in range(len(lengths) + 2))
