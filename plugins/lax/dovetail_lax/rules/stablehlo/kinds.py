"""Makers of lowering rules, by kind of operation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dovetail_backends import Attribute, stablehlo_rules
from dovetail_backends.pjrt import elementwise as elementwise_rule, i64_array
from dovetail_core import Primitive, ShapedArray

from ...primitives.values import real_part


def elementwise(primitive: Primitive, op: str, attrs: str = "") -> None:
    """Add the rule of an operation that is one StableHLO (or CHLO) operation."""
    stablehlo_rules.set(primitive, elementwise_rule(op, attrs))


def accurate(primitive: Primitive, op: str) -> None:
    """Add the rule of a unary operation that takes the parameter ``accuracy``."""

    def rule(b: Any, x: Any, *, accuracy: Any = None) -> Any:
        return b.op(op, [x], b.out, "" if accuracy is None else result_accuracy(accuracy))

    stablehlo_rules.set(primitive, rule)


def result_accuracy(accuracy: Any) -> str:
    """The attribute for an ``AccuracyMode`` or a ``Tolerance``."""
    from ...functions.arithmetic import AccuracyMode

    if isinstance(accuracy, AccuracyMode):
        bounds, mode = "", accuracy.name
    else:
        bounds = (
            f"atol = {accuracy.atol:.17e}, rtol = {accuracy.rtol:.17e}, ulps = {accuracy.ulps}, "
        )
        mode = "TOLERANCE"
    mode = f"mode = #stablehlo.result_accuracy_mode<{mode}>"
    return f"result_accuracy = #stablehlo.result_accuracy<{bounds}{mode}>"


def compare(b: Any, direction: str, x: Any, y: Any, order: str = "") -> Any:
    """``x <direction> y`` of operands of one shape, as booleans."""
    kind = x.aval.dtype.kind
    order = order or {"b": "UNSIGNED", "u": "UNSIGNED", "i": "SIGNED"}.get(kind, "FLOAT")
    if kind == "V":
        from ...dtypes import kind_of

        order = {"signed": "SIGNED", "unsigned": "UNSIGNED"}.get(kind_of(x.aval.dtype), order)
    attrs = (
        f"comparison_direction = #stablehlo<comparison_direction {direction}>, "
        f"compare_type = #stablehlo<comparison_type {order}>"
    )
    return b.op("stablehlo.compare", [x, y], x.aval.update(dtype=bool, weak_type=False), attrs)


def select(b: Any, pred: Any, on_true: Any, on_false: Any) -> Any:
    """``on_true`` where ``pred``, else ``on_false``, of one shape (``pred`` may be a scalar)."""
    return b.op("stablehlo.select", [pred, on_true, on_false], on_true.aval)


def lexicographic(b: Any, direction: str, x: Any, y: Any) -> Any:
    """``x <direction> y`` of complex operands: by real parts, then by imaginary ones."""
    part = ShapedArray(x.aval.shape, real_part(x.aval.dtype))
    rx, ry = (b.op("stablehlo.real", [z], part) for z in (x, y))
    ix, iy = (b.op("stablehlo.imag", [z], part) for z in (x, y))
    by_real = compare(b, direction, rx, ry)
    return select(b, compare(b, "EQ", rx, ry), compare(b, direction, ix, iy), by_real)


INT32 = np.dtype(np.int32)


def known_indices(b: Any, indices: Any) -> Any:
    """Indices in at least 32 bits.

    XLA computes bounds and positions in the type of indices, which may be too small for the length
    of an axis; its partitioner ends the process for smaller types.
    """
    return indices if indices.aval.dtype.itemsize >= 4 else b.convert(indices, INT32)


def pad_attributes(
    low: Sequence[int], high: Sequence[int], holes: Sequence[int]
) -> dict[str, Attribute]:
    """The attributes of ``stablehlo.pad``."""
    names = "edge_padding_low", "edge_padding_high", "interior_padding"
    return dict(zip(names, map(i64_array, (low, high, holes))))


def slice_attributes(
    start: Sequence[int], limit: Sequence[int], strides: Sequence[int] | None = None
) -> str:
    """The attributes of ``stablehlo.slice``; the steps are 1 unless others are given."""
    return (
        f"start_indices = {i64_array(start)}, limit_indices = {i64_array(limit)}, "
        f"strides = {i64_array(strides or [1] * len(start))}"
    )
