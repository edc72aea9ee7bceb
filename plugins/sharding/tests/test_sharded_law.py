"""A law: an operation on sharded arrays is what it is on whole ones: values, gradients, ``vmap``.

Each sample's operands are divided along some of their dimensions, which a number made of the
sample's name chooses.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail import NamedSharding, P
from dovetail_core import MissingRule, is_inexact, typeof
from dovetail_testing import assert_close
from dovetail_testing.samples import Sample
from dovetail_xla.arrays import XlaRuntimeError

FEW = 24
LIMITS = (
    "Unsupported reduction computation",
    "Failed after spmd-partitioning",
    "fft_thunk.cc",
)
"""What XLA says of programs that it cannot divide, JAX's of the same form as well: extremes of
complex numbers, bits of integers, Fourier transforms along divided axes on the CPU."""
WHOLE_VECTORS = {
    "gather",
    *[f"scatter_{n}" for n in ("add", "sub", "mul", "min", "max")],
    "scatter",
}
"""Whose index vectors are not divided here: XLA's results are wrong then, JAX's as well."""
CLAMPED = {"scatter-min", "scatter-max"}
"""Whose updates are whole where windows are clamped: their cotangents are gathered, and XLA clamps
each part of a window that it divides, JAX's programs as well."""
NO_COTANGENTS = {"reduce_window_min", "reduce_window_max"}
"""Whose derivatives are not compared: XLA's are wrong where operands are divided."""


SALT = "sharded "


@pytest.fixture(scope="module")
def square(devices) -> dt.sharding.Mesh:
    return dt.sharding.Mesh(np.array(devices[:4]).reshape(2, 2), ("x", "y"))


def _place(x: Any, choice: int, mesh: Any) -> NamedSharding:
    """One of the shardings that an array's dimensions admit."""
    shape = np.shape(x)
    axes: list[Any] = ["x", "y"] if choice % 2 else ["y", "x"]
    spec: list[Any] = [None] * len(shape)
    for k, n in enumerate(shape):
        if axes and n and n % 4 == 0 and len(axes) == 2 and (choice >> (2 + k)) % 3 == 0:
            spec[k], axes = tuple(axes), []
        elif axes and n and n % 2 == 0 and (choice >> (3 + k)) % 3:
            spec[k] = axes.pop()
    return NamedSharding(mesh, P(*spec))


def _gradients(f: Any, args: Any, which: list[int]) -> list[Any]:
    def of_some(*some: Any) -> list[Any]:
        full = list(args)
        for i, x in zip(which, some):
            full[i] = x
        return [y for y in f(*full) if is_inexact(typeof(y).dtype)]

    outs, pull = dt.vjp(of_some, *[args[i] for i in which])
    return list(pull([y * 0 + 1 for y in outs])) if outs else []


def test_law(sample: Sample, square: Any) -> None:
    try:
        _check(sample, square)
    except XlaRuntimeError as e:
        if not any(text in str(e) for text in LIMITS):
            raise
        pytest.skip(f"XLA cannot divide it: {str(e)[:80]}")


def _check(sample: Sample, square: Any) -> None:
    choice = zlib.crc32(f"{sample.primitive.name} {sample.label}".encode())
    args = [np.asarray(x) for x in sample.args]
    places = [_place(x, choice >> i, square) for i, x in enumerate(args)]
    if sample.primitive.name in WHOLE_VECTORS:
        places[1] = NamedSharding(square, P(*places[1].spec[: args[1].ndim - 1]))
    if sample.primitive.name in CLAMPED and sample.params["mode"].clips:
        places[2] = NamedSharding(square, P())
    placed = [dt.device_put(x, place) for x, place in zip(args, places)]
    f = sample.flat
    for a, b in zip(dt.jit(f)(*placed), dt.jit(f)(*args), strict=True):
        assert_close(a, b, "value", scale=sample.scale)
    rows = [np.stack([x, x]) for x in args]
    along = [dt.device_put(x, NamedSharding(square, P("x", *[None] * (x.ndim - 1)))) for x in rows]
    try:
        mapped = dt.jit(dt.vmap(f))(*rows)
    except MissingRule:
        mapped = None
    if mapped is not None:
        for a, b in zip(dt.jit(dt.vmap(f))(*along), mapped, strict=True):
            assert_close(a, b, "vmap", scale=sample.scale)
    which = [i for i, x in enumerate(args) if is_inexact(x.dtype)]
    if sample.primitive.name in NO_COTANGENTS:
        return
    try:
        wanted = dt.jit(lambda *a: _gradients(f, a, which))(*args) if which else []
    except MissingRule:
        return
    result = dt.jit(lambda *a: _gradients(f, a, which))(*placed) if which else []
    for a, b in zip(result, wanted, strict=True):
        assert_close(a, b, "cotangent", scale=max(sample.scale, 1.0))
