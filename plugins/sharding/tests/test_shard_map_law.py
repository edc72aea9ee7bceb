"""A law: an operation under ``shard_map`` is what it is without: values, gradients, ``vmap``.

Each sample's operation is applied to rows, one on each device, and in turn one of the operands is a
whole that all devices have: its cotangent is the sum of theirs, once.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail import P, shard_map
from dovetail_core import MissingRule, is_inexact, typeof
from dovetail_testing import assert_close
from dovetail_testing.samples import Sample

ROWS, FEW = 2, 24


@pytest.fixture(scope="module")
def line(devices) -> dt.sharding.Mesh:
    return dt.sharding.Mesh(np.array(devices[:ROWS]), ("i",))


def _rows(x: Any, n: int) -> np.ndarray[Any, Any]:
    """Rows of which each is ``x``, the further ones slightly smaller where that means anything."""
    a = np.asarray(x)
    some = is_inexact(a.dtype)
    return np.stack([(a * (1 - k / 16)).astype(a.dtype) if some else a for k in range(n)])


def _pairs(f: Any, sample: Sample, shared: int, line: Any) -> tuple[Any, Any, list[Any]]:
    """The function on devices, the one without, and arguments."""
    specs = tuple(P() if i == shared else P("i") for i in range(len(sample.args)))

    def part(*args: Any) -> list[Any]:
        return [y[None] for y in f(*(x if i == shared else x[0] for i, x in enumerate(args)))]

    def whole(*args: Any) -> list[Any]:
        rows = [f(*(x if i == shared else x[k] for i, x in enumerate(args))) for k in range(ROWS)]
        return [dt.numpy.stack(list(y)) for y in zip(*rows)]

    args = [np.asarray(x) if i == shared else _rows(x, ROWS) for i, x in enumerate(sample.args)]
    return shard_map(part, mesh=line, in_specs=specs, out_specs=P("i")), whole, args


def _gradients(f: Any, args: list[Any], which: list[int]) -> list[Any]:
    def of_some(*some: Any) -> list[Any]:
        full = list(args)
        for i, x in zip(which, some):
            full[i] = x
        return [y for y in f(*full) if is_inexact(typeof(y).dtype)]

    outs, pull = dt.vjp(of_some, *[args[i] for i in which])
    return list(pull([y * 0 + 1 for y in outs])) if outs else []


def test_law(sample: Sample, line: Any) -> None:
    where = zlib.crc32(sample.label.encode()) % (len(sample.args) + 1)
    run_on_devices, whole, args = _pairs(sample.flat, sample, where, line)
    values = dt.jit(whole)(*args)
    for a, b in zip(dt.jit(run_on_devices)(*args), values, strict=True):
        assert_close(a, b, "value", scale=sample.scale)
    stacks = [_rows(x, 3) for x in args]
    try:
        mapped = dt.jit(dt.vmap(whole))(*stacks)
    except MissingRule:
        mapped = None
    if mapped is not None:
        for a, b in zip(dt.jit(dt.vmap(run_on_devices))(*stacks), mapped, strict=True):
            assert_close(a, b, "vmap", scale=sample.scale)
    which = [i for i, x in enumerate(args) if is_inexact(x.dtype)]
    try:
        wanted = dt.jit(lambda *a: _gradients(whole, list(a), which))(*args) if which else []
    except MissingRule:
        return
    result = dt.jit(lambda *a: _gradients(run_on_devices, list(a), which))(*args) if which else []
    for a, b in zip(result, wanted, strict=True):
        assert_close(a, b, "cotangent", scale=max(sample.scale, 1.0))
