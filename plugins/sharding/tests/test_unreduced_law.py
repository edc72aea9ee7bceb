"""A law: what is linear in a sum that is left to be done is that of each summand, and its transpose
is of what is reduced.

Each group of operands in which a primitive is linear is replaced by sums over two devices. The
results are such sums, or are divided as types say, and their values are those of
the operation on the sums; or it is refused with ``ShardingTypeError``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail import P
from dovetail.sharding import AxisType, Mesh, NamedSharding
from dovetail_core import ShardingTypeError, is_inexact, typeof
from dovetail_testing import assert_close
from dovetail_testing.samples import Sample

FEW = 25
SALT = "linear"
SPEC = P(unreduced={"i"})


def is_left_out(sample: Sample) -> bool:
    """What the law is not about."""
    return not _groups(sample) or sample.primitive.traits.names_axes is not None


def _groups(sample: Sample) -> list[tuple[int, ...]]:
    """The groups of operands, all inexact, in which it is linear."""
    params = dict(sample.params)
    result = sample.primitive.traits.groups(len(sample.args), params)
    return [g for g in result if all(is_inexact(sample.avals[i].dtype) for i in g)]


def _left(x: Any, mesh: Mesh, weights: tuple[float, ...]) -> Any:
    """A sum over the devices that is left to be done: ``x`` times each of the weights."""
    place = NamedSharding(mesh, SPEC)
    parts = [dt.device_put((x * w).astype(x.dtype), d) for w, d in zip(weights, mesh.devices.flat)]
    return dt.make_array_from_single_device_arrays(x.shape, place, parts)


def _value(x: Any) -> Any:
    """The value of an array, summed if that is left to be done."""
    told = typeof(x).divided
    if told is None or not told.spec.unreduced:
        return np.asarray(x)
    return sum(np.asarray(s.data) for s in x.addressable_shards)


def test_law(sample: Sample, devices: Any) -> None:
    mesh = Mesh(np.array(devices[:2]), ("i",), AxisType.Explicit)
    plain = [np.asarray(x) for x in sample.args]
    for group in _groups(sample):
        args: list[Any] = [dt.device_put(x, NamedSharding(mesh, P())) for x in plain]
        for i in group:
            args[i] = _left(plain[i], mesh, (2.0, -1.0))
        try:
            types = sample.infer(tuple([typeof(x) for x in args])).avals
        except ShardingTypeError:
            with pytest.raises(ShardingTypeError):
                dt.jit(sample.flat)(*args)
            continue
        result = dt.jit(sample.flat)(*args)
        for a, b, t in zip(result, dt.jit(sample.flat)(*plain), types, strict=True):
            assert typeof(a).str_short() == t.str_short()
            assert_close(_value(a), b, f"operands {group}", scale=max(sample.scale, 1.0))
