"""Lowering of complex parts, choices, changes of type, and arrays made of nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from dovetail_backends import stablehlo_rules
from dovetail_core import ShapedArray

from ...dtypes import kind_of
from ...primitives import values as v
from ...primitives.rng import RandomAlgorithm, rng_bit_generator_p, rng_uniform_p
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
from .kinds import compare, elementwise, select
from .products import broadcast

elementwise(v.real_p, "stablehlo.real")
elementwise(v.imag_p, "stablehlo.imag")
elementwise(v.complex_p, "stablehlo.complex")


@stablehlo_rules.register(bitcast_convert_type_p)
def _bitcast(b: Any, x: Any, *, new_dtype: Any) -> Any:
    return b.op("stablehlo.bitcast_convert", [x], b.out)


@stablehlo_rules.register(v.conj_p)
def _conj(b: Any, x: Any) -> Any:
    part = ShapedArray(x.aval.shape, v.real_part(x.aval.dtype))
    if kind_of(x.aval.dtype) != "complex":
        return b.op("stablehlo.complex", [x, b.constant(0, part)], b.out)
    real, imag = b.op("stablehlo.real", [x], part), b.op("stablehlo.imag", [x], part)
    return b.op("stablehlo.complex", [real, b.op("stablehlo.negate", [imag], part)], b.out)


@stablehlo_rules.register(select_n_p)
def _select_n(b: Any, which: Any, *cases: Any) -> Any:
    if len(cases) == 1:
        return b.broadcast_scalar(cases[0], b.out)
    if which.aval.shape and which.aval.shape != b.out.shape:
        which = b.broadcast_scalar(which, which.aval.update(shape=b.out.shape))
    cases = tuple(broadcast(b, cases))
    if kind_of(which.aval.dtype) == "bool":
        return select(b, which, cases[1], cases[0])
    return _bisect(b, which, cases, 0)


def _bisect(b: Any, which: Any, cases: tuple[Any, ...], low: int) -> Any:
    """The case that ``which - low`` chooses, by halving."""
    if len(cases) == 1:
        return cases[0]
    middle = len(cases) // 2
    below = compare(b, "LT", which, b.constant(low + middle, which.aval))
    lower, upper = _bisect(b, which, cases[:middle], low), cases[middle:]
    return select(b, below, lower, _bisect(b, which, upper, low + middle))


@stablehlo_rules.register(clamp_p)
def _clamp(b: Any, low: Any, x: Any, high: Any) -> Any:
    if kind_of(x.aval.dtype) not in ("complex", "bool"):  # XLA clamps neither
        (x,) = broadcast(b, (x,))
        return b.op("stablehlo.clamp", [low, x, high], b.out)
    from ...primitives.arithmetic import max_p, min_p

    return stablehlo_rules[min_p](b, stablehlo_rules[max_p](b, low, x), high)


@stablehlo_rules.register(convert_element_type_p)
def _convert(b: Any, x: Any, *, new_dtype: Any, weak_type: bool = False) -> Any:
    source, target = kind_of(x.aval.dtype), kind_of(new_dtype)
    if target == "bool" and source != "bool":
        return compare(b, "NE", x, b.constant(0, x.aval))
    if source == "complex" and target != "complex":
        x = b.op("stablehlo.real", [x], x.aval.update(dtype=v.real_part(x.aval.dtype)))
    return b.convert(x, new_dtype)


@stablehlo_rules.register(iota_p)
def _iota(b: Any, *, dtype: Any, shape: tuple[int, ...], dimension: int) -> Any:
    return b.op("stablehlo.iota", [], b.out, f"iota_dimension = {dimension} : i64")


def _same(b: Any, x: Any) -> Any:
    return x


stablehlo_rules.set(copy_p, _same)
stablehlo_rules.set(stop_gradient_p, _same)


@stablehlo_rules.register(dce_sink_p)
def _dce_sink(b: Any, x: Any, *, prevent_mlir_dce: bool) -> Any:
    if prevent_mlir_dce:
        b.op("stablehlo.optimization_barrier", [x], [x.aval])
    return []


@stablehlo_rules.register(optimization_barrier_p)
def _optimization_barrier(b: Any, *operands: Any) -> Any:
    return b.op("stablehlo.optimization_barrier", operands, list(b.outs)) if operands else []


_ALGORITHMS = {
    RandomAlgorithm.RNG_DEFAULT: "DEFAULT",
    RandomAlgorithm.RNG_THREE_FRY: "THREE_FRY",
    RandomAlgorithm.RNG_PHILOX: "PHILOX",
}


@stablehlo_rules.register(rng_bit_generator_p)
def _rng_bit_generator(
    b: Any, key: Any, *, shape: tuple[int, ...], dtype: Any, algorithm: RandomAlgorithm
) -> list[Any]:
    state, pairs = ShapedArray((2,), np.uint64), ShapedArray((2, 2), np.uint32)
    packed = key.aval.dtype == np.uint32
    if packed:
        key = b.op("stablehlo.reshape", [key], pairs)
        key = b.op("stablehlo.bitcast_convert", [key], state)
    # Narrow numbers are cut from 32-bit ones.
    drawn = ShapedArray(shape, np.uint32 if dtype.itemsize < 4 else dtype)
    attrs = f"rng_algorithm = #stablehlo<rng_algorithm {_ALGORITHMS[algorithm]}>"
    key, bits = b.op("stablehlo.rng_bit_generator", [key], [state, drawn], attrs)
    if packed:
        key = b.op("stablehlo.bitcast_convert", [key], pairs)
        key = b.op("stablehlo.reshape", [key], ShapedArray((4,), np.uint32))
    return [key, b.convert(bits, dtype)]


@stablehlo_rules.register(rng_uniform_p)
def _rng_uniform(b: Any, low: Any, high: Any, *, shape: tuple[int, ...]) -> Any:
    sizes = b.constant(np.array(shape, np.int64), ShapedArray((len(shape),), np.int64))
    attrs = "rng_distribution = #stablehlo<rng_distribution UNIFORM>"
    return b.op("stablehlo.rng", [low, high, sizes], b.out, attrs)
