"""Convolutions: depthwise ones by kernels, others in forms that XLA computes faster."""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np

from dovetail_backends import boolean, i64_array, stablehlo_rules
from dovetail_lax import conv_general_dilated_p

from ...library import cpu_kernels, serves
from .products import in_wider_type

_TYPES = ("float32", "float64", "bfloat16", "float16")
_LEAST, _LEAST_IN_GROUPS = 4096, 1 << 16
"""Multiplications from which kernels were faster, and from which groups of features were."""
_FEW = 8
"""Channels from which derivatives by the kernel were faster, if channels are adjacent in memory."""


@stablehlo_rules.register(conv_general_dilated_p, override=True)
def _conv(b: Any, lhs: Any, rhs: Any, **params: Any) -> Any:
    plain = stablehlo_rules.replaced(conv_general_dilated_p, _conv)
    if b.platform != "cpu" or not cpu_kernels.value or 0 in (lhs.aval.size, rhs.aval.size):
        return plain(b, lhs, rhs, **params)
    if serves(b) and _is_by_channel(b, lhs.aval, rhs.aval, params):
        return _by_channel(b, lhs, rhs, params)
    if _multiplies_bytes(b, lhs.aval, rhs.aval, params):
        return in_wider_type(b, np.dtype(np.int32), lambda: plain(b, lhs, rhs, **params))
    if _has_groups_of_batches(b, lhs.aval, rhs.aval, params):
        lhs, params = _by_features(b, lhs, params)
    return plain(b, lhs, rhs, **params)


class _Layout(NamedTuple):
    """The roles of the axes of an array, and its strides."""

    shape: tuple[int, ...]
    batch: int
    channel: int
    spatial: tuple[int, ...]

    def step(self, axis: int) -> int:
        return prod(self.shape[axis + 1 :])


def _layouts(b: Any, x: Any, kernel: Any, params: Any) -> list[_Layout]:
    """The layouts of operand, kernel and result. Groups of batches count as channels."""
    (lb, lf, *left), (ro, ri, *right), (ob, of, *out) = params["dimension_numbers"]
    if params["batch_group_count"] > 1:
        lb, lf = lf, lb
    return [
        _Layout(x.shape, lb, lf, tuple(left)),
        _Layout(kernel.shape, ri, ro, tuple(right)),
        _Layout(b.out.shape, ob, of, tuple(out)),
    ]


def _neighbours(layouts: list[_Layout], summed: bool) -> str | None:
    """The elements that are adjacent in memory in each array: channels or columns."""
    channels = layouts[0].shape[layouts[0].channel]
    if channels > 1 and all(x.step(x.channel) == 1 for x in layouts):
        return "channels" if channels >= _FEW or not summed else None
    vectors = layouts if summed else [layouts[0], layouts[2]]
    return "columns" if all(x.step(x.spatial[-1]) == 1 for x in vectors) else None


def _is_by_channel(b: Any, x: Any, kernel: Any, params: Any) -> bool:
    """Tell whether each channel of the operand has its own kernel, which makes one channel."""
    rank, summed = len(x.shape), params["batch_group_count"] > 1
    if not 3 <= rank <= 4 or x.dtype.name not in _TYPES or b.out.dtype != x.dtype or not b.out.size:
        return False
    layouts = _layouts(b, x, kernel, params)
    channels = x.shape[layouts[0].channel]
    groups = params["batch_group_count"] if summed else params["feature_group_count"]
    fits = channels == groups == kernel.shape[layouts[1].channel]
    work = b.out.size * kernel.size // channels
    return fits and work >= _LEAST and _neighbours(layouts, summed) is not None


def _by_channel(b: Any, lhs: Any, rhs: Any, params: Any) -> Any:
    summed, is_flat = params["batch_group_count"] > 1, len(lhs.aval.shape) == 3
    layouts = _layouts(b, lhs.aval, rhs.aval, params)
    axes = [p for x in layouts for p in (x.batch, x.channel, *[-1] * is_flat, *x.spatial)]
    lows = [low for low, _ in params["padding"]]
    window = [1, 0, 1, 1] * is_flat
    for axis in zip(params["window_strides"], lows, params["lhs_dilation"], params["rhs_dilation"]):
        window.extend(axis)
    config = {
        "places": i64_array(axes),
        "window": i64_array(window),
        "summed": boolean(summed),
        "by_channel": boolean(_neighbours(layouts, summed) == "channels"),
    }
    out, dtype = b.out, lhs.aval.dtype
    if dtype.itemsize == 2:
        lhs, rhs = b.convert(lhs, np.dtype(np.float32)), b.convert(rhs, np.dtype(np.float32))
    result = out.update(dtype=lhs.aval.dtype)
    return b.convert(b.custom_call("dovetail_cpu_channels", [lhs, rhs], [result], config)[0], dtype)


def _multiplies_bytes(b: Any, x: Any, kernel: Any, params: Any) -> bool:
    """Tell whether int8 is multiplied to int8: XLA has fast code for results of int32 only."""
    dn = params["dimension_numbers"]
    grouped = params["feature_group_count"] > 1 or params["batch_group_count"] > 1
    if grouped or not x.dtype.name == kernel.dtype.name == b.out.dtype.name == "int8":
        return False
    features, made = (kernel.shape[dn.rhs_spec[i]] for i in (1, 0))
    return features >= 32 and made >= 16 and b.out.size * prod(kernel.shape) // made >= 1 << 20


def _has_groups_of_batches(b: Any, x: Any, kernel: Any, params: Any) -> bool:
    """Tell whether there are groups of several batches each, which XLA multiplies number by number,
    and enough of them."""
    groups, dn = params["batch_group_count"], params["dimension_numbers"]
    is_known = x.shape[dn.lhs_spec[0]] > groups > 1 and x.dtype.name in _TYPES and not b.is_divided
    return is_known and b.out.size * kernel.size // kernel.shape[dn.rhs_spec[0]] >= _LEAST_IN_GROUPS


def _by_features(b: Any, lhs: Any, params: Any) -> Any:
    """Groups of batches as groups of features, which XLA multiplies as matrices."""
    dn, groups, shape = params["dimension_numbers"], params["batch_group_count"], lhs.aval.shape
    batch, feature = dn.lhs_spec[:2]
    split = [*shape[:batch], groups, shape[batch] // groups, *shape[batch + 1 :]]
    order = [i for i in range(len(split)) if i != batch]
    order.insert(order.index(feature if feature < batch else feature + 1), batch)
    joined = list(shape)
    joined[batch] //= groups
    joined[feature] *= groups
    x = b.op("stablehlo.reshape", [lhs], lhs.aval.update(shape=tuple(split)))
    turned = lhs.aval.update(shape=tuple(split[i] for i in order))
    x = b.op("stablehlo.transpose", [x], turned, {"permutation": i64_array(order)})
    x = b.op("stablehlo.reshape", [x], lhs.aval.update(shape=tuple(joined)))
    return x, params | {"batch_group_count": 1, "feature_group_count": groups}
