"""Lowering of reductions, also cumulative ones, and of ``stablehlo.reduce_window``."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import Attribute, stablehlo_rules
from dovetail_backends.pjrt import Region, i64_array, i64_dense, shared_region
from dovetail_core import ClosedJaxpr, Primitive, ShapedArray, cached

from ...element_types import kind_of
from ...monoids import IDENTITIES, highest, lowest
from ...primitives import reductions as r
from .kinds import compare, lexicographic, select, slice_attributes

FLOAT32 = np.dtype(np.float32)
_OPS = {
    "sum": "add", "prod": "multiply", "max": "maximum", "min": "minimum", "and": "and",
    "or": "or", "xor": "xor",
}  # fmt: skip


@cached
def combiner(kind: str, dtype: Any) -> Region:
    """The region that combines two scalars of type ``dtype``."""
    scalar = ShapedArray((), dtype)

    def combine(b: Any, x: Any, y: Any) -> list[Any]:
        if dtype.kind == "c" and kind in ("max", "min"):
            wins = lexicographic(b, "GT" if kind == "max" else "LT", x, y)
            return [select(b, wins, x, y)]
        return [b.op(f"stablehlo.{_OPS[kind]}", [x, y], scalar)]

    return shared_region([scalar, scalar], combine)


def accumulation_type(kind: str, dtype: Any) -> Any:
    """The type in which a reduction keeps partial results: single precision for sums and products
    of narrower floats, which would otherwise be rounded after each element."""
    narrow = kind in ("sum", "prod") and dtype.itemsize < 4 and kind_of(dtype) == "floating"
    return FLOAT32 if narrow else dtype


def _reduction(primitive: Primitive, kind: str) -> None:
    identity = IDENTITIES[kind]

    def rule(b: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
        if not axes:
            return x
        out, dtype = b.out, accumulation_type(kind, x.aval.dtype)
        init = b.constant(identity(dtype), ShapedArray((), dtype))
        attrs = {"dimensions": i64_array(axes)}
        result = out if dtype == out.dtype else out.update(dtype=dtype)
        operands = [b.convert(x, dtype), init]
        reduced = b.op("stablehlo.reduce", operands, result, attrs, [combiner(kind, dtype)])
        return b.convert(reduced, out.dtype)

    stablehlo_rules.set(primitive, rule)


_reduction(r.reduce_sum_p, "sum")
_reduction(r.reduce_prod_p, "prod")
_reduction(r.reduce_max_p, "max")
_reduction(r.reduce_min_p, "min")
_reduction(r.reduce_and_p, "and")
_reduction(r.reduce_or_p, "or")
_reduction(r.reduce_xor_p, "xor")

_BOOL = ShapedArray((), np.bool_)


def _argreduction(primitive: Primitive, direction: str, worst: Any) -> None:
    """Reduce pairs of value and index: the better value wins, NaN above all; then the first."""

    def better(b: Any, x: Any, i: Any, y: Any, j: Any) -> list[Any]:
        wins = compare(b, direction, x, y)
        nan = compare(b, "NE", x, x)
        wins = b.op("stablehlo.or", [wins, nan], _BOOL)
        tied = b.op("stablehlo.and", [compare(b, "EQ", x, y), compare(b, "LT", i, j)], _BOOL)
        first = b.op("stablehlo.or", [wins, tied], _BOOL)
        return [select(b, wins, x, y), select(b, first, i, j)]

    def rule(b: Any, x: Any, *, axes: tuple[int, ...], index_dtype: Any) -> Any:
        value, position = ShapedArray((), x.aval.dtype), ShapedArray((), index_dtype)
        out = b.out
        positions = b.op(
            "stablehlo.iota",
            [],
            ShapedArray(x.aval.shape, index_dtype),
            f"iota_dimension = {axes[0]} : i64",
        )
        inits = [b.constant(worst(x.aval.dtype), value), b.constant(0, position)]
        region = b.region([value, position, value, position], better)
        outs = [ShapedArray(out.shape, x.aval.dtype), out]
        attrs = {"dimensions": i64_array(axes)}
        return b.op("stablehlo.reduce", [x, positions, *inits], outs, attrs, [region])[1]

    stablehlo_rules.set(primitive, rule)


_argreduction(r.argmax_p, "GT", lowest)
_argreduction(r.argmin_p, "LT", highest)


@stablehlo_rules.register(r.reduce_p)
def _reduce(b: Any, *args: Any, jaxpr: ClosedJaxpr, dimensions: tuple[int, ...]) -> list[Any]:
    if not dimensions:
        return list(args[: len(args) // 2])
    scalars = [x.aval.strong() for x in args[len(args) // 2 :]] * 2
    outs = list(b.outs)
    region = b.region(scalars, lambda b, *xs: b.inline(jaxpr, xs))
    attrs = {"dimensions": i64_array(dimensions)}
    return b.op("stablehlo.reduce", list(args), outs, attrs, [region])


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

    Negative pads are cut off the operands before: where windows have one position, XLA aborts the
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
    or after the last, they become pads.
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


def _cumulative(primitive: Primitive, kind: str) -> None:
    def rule(b: Any, x: Any, *, axis: int, reverse: bool) -> Any:
        n, ndim = x.aval.shape[axis], len(x.aval.shape)
        if n < 2:
            return x
        ones = (1,) * ndim
        window = (*ones[:axis], n, *ones[axis + 1 :])
        pads = [(0, 0)] * ndim
        pads[axis] = (0, n - 1) if reverse else (n - 1, 0)
        return reduced_over_windows(
            b, x, kind, window_dimensions=window, window_strides=ones, padding=tuple(pads),
            base_dilation=ones, window_dilation=ones,
        )  # fmt: skip

    stablehlo_rules.set(primitive, rule)


_cumulative(r.cumsum_p, "sum")
_cumulative(r.cumprod_p, "prod")
_cumulative(r.cummax_p, "max")
_cumulative(r.cummin_p, "min")
