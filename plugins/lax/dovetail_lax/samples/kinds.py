"""Makers of samples: numbers from a domain, in the types, shapes and extremes that matter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

from dovetail_core import Primitive
from dovetail_testing import Sample

from ..dtypes import iinfo, kind_of

Domain = tuple[float, float]
Array = np.ndarray[Any, Any]

FLOATS = ("float32", "bfloat16", "float16")
INTEGERS = ("int32", "uint8", "int8", "uint32", "int16")
AWKWARD = (0.0, -0.0, 1.0, -1.0, float("nan"), float("inf"), float("-inf"), 0.5, -2.5, 1e30, 1e-30)


def numbers(name: str, domain: Domain, shape: Sequence[int], dtype: Any = "float32") -> Array:
    """Deterministic numbers of ``domain``; complex ones have both parts in it."""
    rng = np.random.default_rng([crc32(name.encode()), *shape])
    low, high = domain
    values: Any = rng.uniform(low, high, shape)
    kind = kind_of(np.dtype(dtype))
    if kind == "complex":
        values = values + 1j * rng.uniform(low, high, shape)
    if kind == "bool":
        values = rng.integers(0, 2, shape)
    elif kind in ("signed", "unsigned"):
        values = rng.integers(int(low), int(high) + 1, shape)
    return np.asarray(values).astype(dtype)


def awkward(dtype: Any) -> Array:
    """Zeros, infinities, NaN; limits of integers; both booleans."""
    kind = kind_of(np.dtype(dtype))
    if kind == "bool":
        return np.array([True, False])
    if kind in ("signed", "unsigned"):
        info = iinfo(dtype)
        low, high = int(info.min), int(info.max)
        return np.array([low, high, 0, 1, high - 1, low + 1, 2, 7]).astype(dtype)
    with np.errstate(all="ignore"):
        values = np.array(AWKWARD).astype(dtype)
    if kind == "complex":
        parts = np.array([0, -0.0, 1, -1, 2.5, 1e20])
        values = (parts[:, None] + 1j * parts[None]).astype(dtype)
        values.imag = parts[None]  # addition loses the sign of a zero
    return values


def one_operand(
    primitive: Primitive,
    domain: Domain,
    dtypes: Sequence[str],
    *,
    extremes: Sequence[str] = (),
    smooth: bool = True,
    **params: Any,
) -> Iterator[Sample]:
    """Samples of an elementwise operation of one operand."""
    tags = frozenset() if smooth else frozenset({"nonsmooth"})
    name = primitive.name
    for dtype in dtypes:
        yield Sample(primitive, (numbers(name, domain, (5,), dtype),), params, tags)
    first = dtypes[0]
    yield Sample(primitive, (numbers(name, domain, (2, 3), first),), params, tags)
    yield Sample(primitive, (numbers(name, domain, (), first)[()],), params, tags)
    yield Sample(primitive, (numbers(name, domain, (0, 2), first),), params, tags | {"empty"})
    for dtype in extremes:
        yield Sample(primitive, (awkward(dtype),), params, frozenset({"extreme", "nonsmooth"}))


def operands(
    primitive: Primitive,
    domains: Sequence[Domain],
    dtypes: Sequence[str],
    *,
    extremes: Sequence[str] = (),
    smooth: bool = True,
    **params: Any,
) -> Iterator[Sample]:
    """Samples of an elementwise operation of several operands, some of them scalars."""
    tags = frozenset() if smooth else frozenset({"nonsmooth"})

    def args(dtype: str, *shapes: tuple[int, ...]) -> tuple[Any, ...]:
        return tuple(
            numbers(f"{primitive.name} {i}", d, s, dtype)[()]
            for i, (d, s) in enumerate(zip(domains, shapes))
        )

    n = len(domains)
    for dtype in dtypes:
        yield Sample(primitive, args(dtype, *[(5,)] * n), params, tags)
    first = dtypes[0]
    yield Sample(primitive, args(first, (2, 3), *[()] * (n - 1)), params, tags)
    yield Sample(primitive, args(first, *[()] * (n - 1), (4,)), params, tags)
    yield Sample(primitive, args(first, *[()] * n), params, tags)
    yield Sample(primitive, args(first, *[(0, 2)] * n), params, tags | {"empty"})
    for dtype in extremes:
        values = awkward(dtype).reshape(-1)
        grid = [g.reshape(-1) for g in np.meshgrid(*[values] * n)]
        yield Sample(primitive, tuple(grid), params, frozenset({"extreme", "nonsmooth"}))


def undifferentiated(sample: Sample) -> Sample:
    """The sample, passed over by laws of derivatives: its operation lacks some of them."""
    return replace(sample, tags=sample.tags | {"nonsmooth", "extreme"})
