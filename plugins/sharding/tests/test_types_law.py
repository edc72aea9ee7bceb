"""A law: an operation on divided operands is what it is on whole ones, and divided as types say.

Each dimension of each operand of each sample is divided in turn. Values and gradients are those of
the undivided operation, the arrays are where their types say, and a cotangent is where its primal
is; or the operation is ambiguous, and raises ``ShardingTypeError``.
"""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

import dovetail as dt
from dovetail import P
from dovetail.sharding import AxisType, Mesh, NamedSharding
from dovetail_core import MissingRule, ShardingTypeError, is_inexact, typeof
from dovetail_sharding.laws import divided_types
from dovetail_testing import assert_close
from dovetail_testing.samples import Sample

FEW = 40
UNKNOWN = {"mulhi", "fft"}  # to XLA, divided on CPUs: JAX fails likewise
NO_COLLECTIVE = "Unsupported reduction computation"
"""XLA's CPU collectives know sums, products, minima and maxima of numbers that are not complex."""


def is_left_out(sample: Sample) -> bool:
    """What the law is not about."""
    return sample.primitive.name in UNKNOWN or sample.primitive.traits.names_axes is not None


def _placed(sample: Sample, i: int, d: int, mesh: Mesh) -> list[Any]:
    args: list[Any] = [np.asarray(x) for x in sample.args]
    args[i] = dt.device_put(args[i], NamedSharding(mesh, P(*[None] * d, "i")))
    return args


def _where_types_say(arrays: Any, mesh: Mesh) -> None:
    for x in arrays:
        told = typeof(x).divided
        wanted = NamedSharding(mesh, P() if told is None else told.spec)
        assert x.sharding.is_equivalent_to(wanted, x.ndim), (typeof(x), x.sharding)


def _pull(f: Any, args: list[Any]) -> tuple[list[Any], list[int]]:
    which = [i for i, x in enumerate(args) if is_inexact(typeof(x).dtype)]

    def of_some(*some: Any) -> list[Any]:
        full = list(args)
        for i, x in zip(which, some):
            full[i] = x
        return [y for y in f(*full) if is_inexact(typeof(y).dtype)]

    def whole(*some: Any) -> list[Any]:
        outs, pull = dt.vjp(of_some, *some)
        return list(pull([y * 0 + 1 for y in outs])) if outs else []

    return dt.jit(whole)(*[args[i] for i in which]), which


def test_law(sample: Sample, devices: Any) -> None:
    plain = [np.asarray(x) for x in sample.args]
    values = dt.jit(sample.flat)(*plain)
    wanted = None
    with contextlib.suppress(MissingRule):
        wanted, _ = _pull(sample.flat, plain)
    for i, d, size, avals in divided_types(sample):
        mesh = Mesh(np.array(devices[:size]), ("i",), AxisType.Explicit)
        args = _placed(sample, i, d, mesh)
        try:
            types = sample.infer(avals).avals
        except ShardingTypeError:
            with pytest.raises(ShardingTypeError):
                dt.jit(sample.flat)(*args)
            continue
        try:
            result = dt.jit(sample.flat)(*args)
        except RuntimeError as e:
            if NO_COLLECTIVE in str(e):
                continue
            raise
        for a, b, t in zip(result, values, types, strict=True):
            assert_close(a, b, f"operand {i}, dimension {d}", scale=sample.scale)
            assert typeof(a).str_short() == t.str_short()
        _where_types_say(result, mesh)
        if wanted is not None:
            _gradients(sample, args, wanted, mesh)


def _gradients(sample: Sample, args: list[Any], wanted: list[Any], mesh: Mesh) -> None:
    result, which = _pull(sample.flat, args)
    for k, a, b in zip(which, result, wanted, strict=False):
        assert_close(a, b, "gradient", scale=max(sample.scale, 1.0))
        if is_inexact(typeof(a).dtype):
            assert typeof(a).divided == typeof(args[k]).divided
    _where_types_say(result, mesh)
