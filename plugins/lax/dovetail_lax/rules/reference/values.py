"""Complex parts, choices, changes of type, and arrays made of nothing, by NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import reference_rules

from ...dtypes import itemsize_bits, kind_of
from ...primitives import values as v
from ...primitives.values import (
    bitcast_convert_type_p,
    clamp_p,
    convert_element_type_p,
    copy_p,
    dce_sink_p,
    iota_p,
    optimization_barrier_p,
    select_n_p,
    stop_gradient_p,
)
from .kinds import Array, quiet, to_integer

reference_rules.set(v.real_p, lambda x: np.array(np.real(x)))
reference_rules.set(v.imag_p, lambda x: np.array(np.imag(x)))
reference_rules.set(copy_p, np.array)
reference_rules.set(stop_gradient_p, lambda x: x)
reference_rules.set(dce_sink_p, lambda x, *, prevent_mlir_dce: [])
reference_rules.set(optimization_barrier_p, lambda *operands: list(operands))


@reference_rules.register(v.complex_p)
def _complex(x: Array, y: Array) -> Array:
    out = np.empty(np.broadcast_shapes(x.shape, y.shape), v.complex_of(x.dtype))
    out.real, out.imag = x, y
    return out


@reference_rules.register(v.conj_p)
def _conj(x: Array) -> Array:
    return np.conj(x).astype(v.complex_of(x.dtype), copy=False)


@reference_rules.register(select_n_p)
def _select_n(which: Array, *cases: Array) -> Array:
    index = np.clip(which.astype(np.int64), 0, len(cases) - 1)
    shape = np.broadcast_shapes(which.shape, *[x.shape for x in cases])
    out = np.broadcast_to(cases[0], shape)
    for i, case in enumerate(cases[1:], 1):
        out = np.where(index == i, case, out)
    return np.array(out, cases[0].dtype)


@reference_rules.register(clamp_p)
@quiet
def _clamp(low: Array, x: Array, high: Array) -> Array:
    from ...primitives.arithmetic import max_p, min_p

    return reference_rules[min_p](reference_rules[max_p](low, x), high)


@reference_rules.register(convert_element_type_p)
@quiet
def _convert(x: Array, *, new_dtype: Any, weak_type: bool = False) -> Array:
    source, target = kind_of(x.dtype), kind_of(new_dtype)
    if target == "bool":
        return np.asarray(x != np.zeros((), x.dtype))
    if source == "complex" and target != "complex":
        x, source = x.real, "floating"
    if source == "floating" and target in ("signed", "unsigned"):
        return to_integer(x, new_dtype)
    return x.astype(new_dtype)


@reference_rules.register(bitcast_convert_type_p)
def _bitcast(x: Array, *, new_dtype: Any) -> Array:
    old, new = itemsize_bits(x.dtype), itemsize_bits(new_dtype)
    if min(old, new) < 8:
        return _bitcast_packed(x, new_dtype, old, new)
    if old > new:
        return np.array(x)[..., None].view(new_dtype)
    out = np.array(x, order="C").view(new_dtype)
    return out if old == new else out[..., 0]


def _bitcast_packed(x: Array, dtype: Any, old: int, new: int) -> Array:
    """As :func:`_bitcast` where elements of a type share bytes: the lower bits come first."""
    raw = x.view(f"u{x.dtype.itemsize}").astype(np.uint64) & np.uint64((1 << old) - 1)
    if old > new:
        shifts = np.arange(old // new, dtype=np.uint64) * np.uint64(new)
        raw = (raw[..., None] >> shifts) & np.uint64((1 << new) - 1)
    elif old < new:
        shifts = np.arange(new // old, dtype=np.uint64) * np.uint64(old)
        raw = np.bitwise_or.reduce(raw << shifts, axis=-1)
    size = np.dtype(dtype).itemsize
    return raw.astype(f"u{size}").view(dtype)


@reference_rules.register(iota_p)
def _iota(*, dtype: Any, shape: tuple[int, ...], dimension: int) -> Array:
    line = np.arange(shape[dimension]).astype(dtype)
    line = line.reshape([-1 if i == dimension else 1 for i in range(len(shape))])
    return np.array(np.broadcast_to(line, shape))
