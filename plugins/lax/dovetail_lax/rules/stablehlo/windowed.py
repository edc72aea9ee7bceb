"""``stablehlo.reduce_window``, and the pads that are laid out before it."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Attribute
from dovetail_backends.pjrt import i64_array, i64_dense
from dovetail_core import ShapedArray

from ...monoids import IDENTITIES
from .kinds import slice_attributes
from .reductions import combiner

Axes = tuple[int, ...]


def reduced_over_windows(b: Any, x: Any, kind: str, **params: Any) -> Any:
    """``x`` reduced over windows by a monoid of the ``kind``."""
    dtype = x.aval.dtype
    init = b.constant(IDENTITIES[kind](dtype), ShapedArray((), dtype))
    return windows_reduced(b, [x], [init], b.out, combiner(kind, dtype), **params)


def windows_reduced(
    b: Any, xs: list[Any], inits: list[Any], outs: Any, region: str, **params: Any
) -> Any:
    """The results of ``stablehlo.reduce_window``, of the types ``outs``.

    Negative pads are cut off the operands before: where windows take one place, XLA aborts the
    process over them.
    """
    if any(min(pad) < 0 for pad in params["padding"]):
        axes = [
            _cut(n, pad, d)
            for n, pad, d in zip(xs[0].aval.shape, params["padding"], params["base_dilation"])
        ]
        xs = [_slice(b, x, [kept for kept, _ in axes]) for x in xs]
        params["padding"] = tuple(pad for _, pad in axes)
    return b.op("stablehlo.reduce_window", [*xs, *inits], outs, _attributes(**params), [region])


def _cut(n: int, pads: tuple[int, int], dilation: int) -> tuple[range, tuple[int, int]]:
    """The elements of an axis that negative pads leave, and the pads around these.

    Element ``i`` is at ``i * dilation``. Where holes are left beside the first element that is,
    or behind the last, they become pads.
    """
    low, high = pads
    length = max(n - 1, 0) * dilation + min(n, 1) + low + high
    first = -(min(low, 0) // dilation)
    last = ((n - 1) * dilation + min(high, 0)) // dilation
    if first > last:
        return range(0), (max(length, 0), 0)
    above = (n - 1) * dilation + high - last * dilation
    return range(first, last + 1), (first * dilation + low, above)


def _slice(b: Any, x: Any, axes: list[range]) -> Any:
    start, limit = [a.start for a in axes], [a.stop for a in axes]
    out = ShapedArray(tuple(map(len, axes)), x.aval.dtype)
    return b.op("stablehlo.slice", [x], out, slice_attributes(start, limit))


def _attributes(
    window_dimensions: Axes,
    window_strides: Axes,
    padding: tuple[tuple[int, int], ...],
    base_dilation: Axes,
    window_dilation: Axes,
) -> dict[str, Attribute]:
    return {
        "window_dimensions": i64_array(window_dimensions),
        "window_strides": i64_array(window_strides),
        "base_dilations": i64_array(base_dilation),
        "window_dilations": i64_array(window_dilation),
        "padding": _pads(padding),
    }


def _pads(padding: tuple[tuple[int, int], ...]) -> Attribute:
    return i64_dense(np.asarray(padding, np.int64).reshape(-1, 2))
