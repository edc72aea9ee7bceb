"""Samples of complex parts, choices, changes of type, and arrays made of nothing."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dovetail_core import is_inexact
from dovetail_testing import Sample

from ..primitives import values as v
from ..primitives.rng import RandomAlgorithm, rng_bit_generator_p
from ..primitives.values import (
    bitcast_convert_type_p,
    clamp_p,
    convert_element_type_p,
    copy_p,
    dce_sink_p,
    iota_p,
    optimization_barrier_p,
    select_n_p,
    stage_p,
    stop_gradient_p,
)
from .kinds import INTEGERS, awkward, numbers, one_operand, operands

ROUND = (-3.0, 3.0)
DTYPES = ("bool", *INTEGERS, "float32", "bfloat16", "float16", "float8_e5m2", "complex64")


def samples() -> Iterator[Sample]:
    """All of them."""
    yield from _complex()
    yield from _choices()
    yield from _conversions()
    yield from _rest()


def _complex() -> Iterator[Sample]:
    for p in (v.real_p, v.imag_p):
        yield from one_operand(p, ROUND, ["complex64"], extremes=["complex64"])
    yield from one_operand(v.conj_p, ROUND, ["complex64", "float32"], extremes=["complex64"])
    yield from operands(v.complex_p, [ROUND, ROUND], ["float32"], extremes=["float32"])


def _choices() -> Iterator[Sample]:
    x, y = (numbers(n, ROUND, (4,)) for n in "xy")
    z = np.float32(2.5)
    flags = np.array([True, False, True, True])
    for which, cases in (
        (flags, (x, y)), (np.True_, (x, y)), (flags, (x, z)), (flags, (z, z)), (flags, (x,)),
        (np.array([0, 2, 1, 3], np.int32), (x, y, z)), (np.int32(1), (x, y)),
        (np.array([-5, 9, 1, 0], np.int8), (x, y, x, y, z)), (np.False_, (z, z)),
    ):  # fmt: skip
        yield Sample(select_n_p, (which, *cases))
    for dtype in ("int32", "bfloat16", "complex64", "bool"):
        yield Sample(select_n_p, (flags, *(numbers(n, (0, 3), (4,), dtype) for n in "xy")))
    low, high = np.float32(-1), np.float32(1)
    yield Sample(clamp_p, (low, x, high))
    yield Sample(clamp_p, (x - 1, y, x + 1))
    yield Sample(clamp_p, (low, z, high))
    yield Sample(clamp_p, (np.int32(2), numbers("i", (-5, 5), (6,), "int32"), np.int32(4)))
    tags = frozenset({"extreme", "nonsmooth"})
    yield Sample(clamp_p, (low, awkward("float32"), high), tags=tags)


def _conversions() -> Iterator[Sample]:
    for source in DTYPES:
        for target in DTYPES:
            params = {"new_dtype": np.dtype(target), "weak_type": False}
            x = numbers("convert", (0.5, 3.0), (5,), source)
            # Differences in a wider type than the result's say nothing about it.
            coarse = is_inexact(x.dtype) and np.dtype(target).itemsize < 4
            tags = frozenset({"nonsmooth"}) if coarse else frozenset[str]()
            yield Sample(convert_element_type_p, (x,), params, tags)
    for source in ("float32", "int32", "uint8", "bfloat16"):
        for target in ("float32", "int32", "uint8", "int8", "uint32", "float16", "bool"):
            params = {"new_dtype": np.dtype(target), "weak_type": False}
            tags = frozenset({"extreme", "nonsmooth"})
            yield Sample(convert_element_type_p, (awkward(source),), params, tags)
    weak = {"new_dtype": np.dtype(np.float32), "weak_type": True}
    yield Sample(convert_element_type_p, (np.float32(1.5),), weak)
    tags = frozenset({"nonsmooth"})
    for source, shape, target in (
        ("float32", (3,), "int32"), ("float32", (3,), "uint8"), ("uint8", (3, 4), "float32"),
        ("bfloat16", (), "uint16"), ("int16", (2, 2), "uint32"), ("float32", (), "uint32"),
    ):  # fmt: skip
        x, params = numbers("b", (0, 9), shape, source)[()], {"new_dtype": np.dtype(target)}
        yield Sample(bitcast_convert_type_p, (x,), params, tags)


def _rest() -> Iterator[Sample]:
    for dtype in ("int32", "float32", "uint8", "bfloat16", "complex64"):
        for shape, dimension in (((5,), 0), ((2, 3), 1), ((2, 3), 0), ((0, 3), 1)):
            params = {"dtype": np.dtype(dtype), "shape": shape, "dimension": dimension}
            yield Sample(iota_p, (), params)
    for p, smooth in ((copy_p, True), (stop_gradient_p, False)):
        dtypes = ["float32", "int32", "bool", "complex64"]
        yield from one_operand(p, ROUND, dtypes, smooth=smooth)
    x = numbers("x", ROUND, (3,))
    yield Sample(stage_p, (x,))
    yield Sample(dce_sink_p, (x,), {"prevent_mlir_dce": False})
    yield Sample(optimization_barrier_p, (x, np.int32(3), numbers("y", ROUND, (2, 2))))
    for algorithm in RandomAlgorithm:
        for dtype in ("uint32", "uint8", "uint16"):
            key = np.array([7, 0, 3, 0], np.uint32)
            params = {"shape": (5,), "dtype": np.dtype(dtype), "algorithm": algorithm}
            tags = frozenset({"nonsmooth", "pooled"})
            yield Sample(rng_bit_generator_p, (key,), params, tags)
