"""Windowed reductions with NumPy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dovetail_backends import reference_rules
from dovetail_core import ClosedJaxpr, Primitive

from ...monoids import IDENTITIES
from ...primitives.discrete import ge_p
from ...primitives.windows import (
    reduce_window_max_p,
    reduce_window_min_p,
    reduce_window_p,
    reduce_window_prod_p,
    reduce_window_sum_p,
    select_and_gather_add_p,
    select_and_scatter_add_p,
)
from .kinds import Array, quiet
from .reductions import computing, folded

Axes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


def with_layout(x: Array, padding: Pads, dilation: Axes, value: Any) -> Array:
    """``x`` with holes between elements and pads around, filled with ``value``."""
    sizes = [(n - 1) * d + 1 if n else 0 for n, d in zip(x.shape, dilation)]
    wide = [n + max(lo, 0) + max(hi, 0) for n, (lo, hi) in zip(sizes, padding)]
    out = np.full(wide, value, x.dtype)
    starts = [max(lo, 0) for lo, _ in padding]
    out[tuple([slice(i, i + n, d) for i, n, d in zip(starts, sizes, dilation)])] = x
    cut = [slice(max(-lo, 0), n - max(-hi, 0)) for n, (lo, hi) in zip(wide, padding)]
    return out[tuple(cut)]


def windows_of(x: Array, window: Axes, strides: Axes, dilation: Axes) -> Array:
    """The windows of ``x``: an axis of positions for each axis, then the axes of windows."""
    spans = [(w - 1) * d + 1 if w else 0 for w, d in zip(window, dilation)]
    n = x.ndim
    if any(s > d or not s for s, d in zip(spans, x.shape)):
        positions = [(d - s) // t + 1 if d >= s else 0 for s, d, t in zip(spans, x.shape, strides)]
        return np.zeros((*positions, *window), x.dtype)
    result = sliding_window_view(x, spans) if n else x
    return result[tuple(slice(None, None, s) for s in (*strides, *dilation))]


def _reduction(primitive: Primitive, kind: str, reduce: Callable[..., Any]) -> None:
    def rule(
        x: Array,
        *,
        window_dimensions: Axes,
        window_strides: Axes,
        padding: Pads,
        base_dilation: Axes,
        window_dilation: Axes,
    ) -> Array:
        filled = with_layout(x, padding, base_dilation, IDENTITIES[kind](x.dtype))
        windows = windows_of(filled, window_dimensions, window_strides, window_dilation)
        inside = tuple(range(x.ndim, 2 * x.ndim))
        return np.asarray(reduce(computing(windows), axis=inside)).astype(x.dtype)

    reference_rules.set(primitive, quiet(rule))


_reduction(reduce_window_sum_p, "sum", np.sum)
_reduction(reduce_window_prod_p, "prod", np.prod)
_reduction(reduce_window_max_p, "max", np.max)
_reduction(reduce_window_min_p, "min", np.min)


@reference_rules.register(reduce_window_p)
def _reduce_window(*args: Array, jaxpr: ClosedJaxpr, **params: Any) -> list[Array]:
    n = len(args) // 2
    rows: list[Array] = []
    for x, init in zip(args[:n], args[n:]):
        filled = with_layout(x, params["padding"], params["base_dilation"], init)
        windows = windows_of(
            filled,
            params["window_dimensions"],
            params["window_strides"],
            params["window_dilation"],
        )
        rows.append(windows.reshape((*windows.shape[: x.ndim], _count(windows, x.ndim))))
    return folded(rows, args[n:], jaxpr)


def _count(windows: Array, ndim: int) -> int:
    return int(np.prod(windows.shape[ndim:], dtype=int))


def _selected(
    operand: Array, select: Primitive, padding: Pads, base: Axes, **params: Any
) -> tuple[Array, Array]:
    """The flat indices, in the padded operand, of the elements that windows select; all indices."""
    kind = "max" if select is ge_p else "min"
    filled = with_layout(operand, padding, base, IDENTITIES[kind](operand.dtype))
    positions = np.arange(filled.size).reshape(filled.shape)
    values, at = (windows_of(v, **params) for v in (filled, positions))
    n = operand.ndim
    flat = values.reshape((*values.shape[:n], _count(values, n)))
    first = (np.argmax if kind == "max" else np.argmin)(computing(flat), axis=-1)
    at = at.reshape(flat.shape)
    return np.take_along_axis(at, first[..., None], -1)[..., 0], positions


@reference_rules.register(select_and_gather_add_p)
def _select_and_gather_add(
    tangents: Array,
    operand: Array,
    *,
    select_prim: Primitive,
    window_dimensions: Axes,
    window_strides: Axes,
    padding: Pads,
    base_dilation: Axes,
    window_dilation: Axes,
) -> Array:
    at, _ = _selected(
        operand, select_prim, padding, base_dilation,
        window=window_dimensions, strides=window_strides, dilation=window_dilation,
    )  # fmt: skip
    return with_layout(tangents, padding, base_dilation, 0).reshape(-1)[at]


@reference_rules.register(select_and_scatter_add_p)
def _select_and_scatter_add(
    source: Array,
    operand: Array,
    *,
    select_prim: Primitive,
    window_dimensions: Axes,
    window_strides: Axes,
    padding: Pads,
) -> Array:
    ones = (1,) * operand.ndim
    at, positions = _selected(
        operand, select_prim, padding, ones,
        window=window_dimensions, strides=window_strides, dilation=ones,
    )  # fmt: skip
    wide = computing(source)
    total = np.zeros(positions.size, wide.dtype)
    np.add.at(total, at.reshape(-1), wide.reshape(-1))
    back = tuple((-lo, -hi) for lo, hi in padding)
    return with_layout(total.reshape(positions.shape), back, ones, 0).astype(operand.dtype)
