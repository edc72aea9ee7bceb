"""Samples of reductions, cumulative operations and sorts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dovetail_core import Primitive, ShapedArray, stage_closed
from dovetail_testing import Sample

from ..primitives.arithmetic import add_p, max_p, mul_p
from ..primitives.reductions import (
    argmax_p,
    argmin_p,
    cumlogsumexp_p,
    cummax_p,
    cummin_p,
    cumprod_p,
    cumsum_p,
    reduce_and_p,
    reduce_max_p,
    reduce_min_p,
    reduce_or_p,
    reduce_p,
    reduce_prod_p,
    reduce_sum_p,
    reduce_xor_p,
)
from ..primitives.sorting import approx_top_k_p, sort_p, top_k_p
from .kinds import awkward, numbers

EMPTY = frozenset({"empty"})
EXTREME = frozenset({"extreme", "nonsmooth"})
TIES = frozenset({"nonsmooth"})
FLOATS = ("float32", "bfloat16", "float16", "complex64")
INTEGERS = ("int32", "uint8", "int8")


def spaced(name: str, shape: tuple[int, ...], dtype: Any = "float32") -> Any:
    """Different numbers at distances of at least one, in no order, of both signs."""
    rng = np.random.default_rng([len(name), *shape])
    size = int(np.prod(shape, dtype=int))
    values = (rng.permutation(size) - size // 3).reshape(shape)
    if np.dtype(dtype).kind == "c":
        return (values - 0.5j * values[..., ::-1]).astype(dtype)
    return (values % 2 == 0) if dtype == "bool" else values.astype(dtype)


def ties() -> Any:
    """Numbers of which several are equal."""
    return np.array([[1, 1, 0, 1], [2, 2, 2, 2], [0, 3, 3, 1]], np.float32)


def _axes(primitive: Primitive, values: Any, dtypes: tuple[str, ...]) -> Iterator[Sample]:
    name = primitive.name
    for dtype in dtypes:
        yield Sample(primitive, (values(name, (3, 4), dtype),), {"axes": (1,)})
    first = dtypes[0]
    yield Sample(primitive, (values(name, (2, 3, 2), first),), {"axes": (0, 2)})
    yield Sample(primitive, (values(name, (2, 3), first),), {"axes": (1, 0)})
    yield Sample(primitive, (values(name, (2, 3), first),), {"axes": ()})
    yield Sample(primitive, (values(name, (), first)[()],), {"axes": ()})
    yield Sample(primitive, (values(name, (3, 0), first),), {"axes": (1,)}, EMPTY)
    yield Sample(primitive, (values(name, (0, 2), first),), {"axes": (1,)}, EMPTY)
    for dtype in dtypes:
        if dtype != "complex64":
            yield Sample(primitive, (awkward(dtype).reshape(1, -1),), {"axes": (0,)}, EXTREME)


def _small(name: str, shape: tuple[int, ...], dtype: Any) -> Any:
    return numbers(name, (-2, 2), shape, dtype)


def _named() -> Iterator[Sample]:
    yield from _axes(reduce_sum_p, _small, (*FLOATS, *INTEGERS))
    yield from _axes(reduce_prod_p, _small, (*FLOATS, *INTEGERS))
    zeros = np.array([[0, 2, 3], [0, 0, 4]], np.float32)
    yield Sample(reduce_prod_p, (zeros,), {"axes": (1,)}, name="zeros")
    for primitive in (reduce_max_p, reduce_min_p):
        yield from _axes(primitive, spaced, (*FLOATS, *INTEGERS, "bool"))
        yield Sample(primitive, (ties(),), {"axes": (1,)}, TIES, name="ties")
        yield Sample(primitive, (awkward("float32"),), {"axes": (0,)}, EXTREME, name="NaN")
    for primitive in (reduce_and_p, reduce_or_p, reduce_xor_p):
        yield from _axes(primitive, spaced, ("bool", *INTEGERS))
    for primitive in (argmax_p, argmin_p):
        for dtype in (*FLOATS[:3], *INTEGERS, "bool"):
            params: dict[str, Any] = {"axes": (1,), "index_dtype": np.dtype(np.int32)}
            yield Sample(primitive, (spaced(primitive.name, (3, 4), dtype),), params)
        params = {"axes": (0,), "index_dtype": np.dtype(np.uint8)}
        yield Sample(primitive, (ties(),), params, TIES, name="ties")
        yield Sample(primitive, (awkward("float32"),), params, EXTREME, name="NaN")
        yield Sample(primitive, (np.zeros((2, 0), np.float32),), params, EMPTY)


def program(combine: Any, *dtypes: str) -> Any:
    """A program of two scalars per dtype: ``combine(*scalars)`` returns a list."""
    avals = [ShapedArray((), np.dtype(d)) for d in dtypes]
    return stage_closed(combine, avals * 2, "combine")


def _programs() -> Iterator[Sample]:
    product = program(lambda x, y: [mul_p.bind(x, y)], "float32")
    x, one = _small("reduce", (3, 5), "float32"), np.float32(1.5)
    yield Sample(reduce_p, (x, one), {"jaxpr": product, "dimensions": (1,)})
    yield Sample(reduce_p, (x, one), {"jaxpr": product, "dimensions": (0, 1)})
    yield Sample(reduce_p, (x, one), {"jaxpr": product, "dimensions": ()})
    yield Sample(reduce_p, (x[:, :0], one), {"jaxpr": product, "dimensions": (1,)}, EMPTY)
    both = program(lambda a, i, b, j: [add_p.bind(a, b), max_p.bind(i, j)], "float32", "int32")
    args = (x, spaced("reduce", (3, 5), "int32"), np.float32(0), np.int32(-9))
    yield Sample(reduce_p, args, {"jaxpr": both, "dimensions": (0,)})


def _cumulative() -> Iterator[Sample]:
    for primitive, values, dtypes in (
        (cumsum_p, _small, (*FLOATS, *INTEGERS)),
        (cumprod_p, _small, (*FLOATS, *INTEGERS)),
        (cummax_p, spaced, (*FLOATS[:3], *INTEGERS)),
        (cummin_p, spaced, (*FLOATS[:3], *INTEGERS)),
        (cumlogsumexp_p, _small, FLOATS),
    ):
        name = primitive.name
        for i, dtype in enumerate(dtypes):
            params: dict[str, Any] = {"axis": 1, "reverse": bool(i % 2)}
            yield Sample(primitive, (values(name, (2, 5), dtype),), params)
        params = {"axis": 0, "reverse": True}
        yield Sample(primitive, (values(name, (4, 2), "float32"),), params)
        yield Sample(primitive, (values(name, (1,), "float32"),), params)
        yield Sample(primitive, (values(name, (0, 2), "float32"),), params, EMPTY)
    for primitive in (cummax_p, cummin_p, cumprod_p):
        yield Sample(primitive, (ties(),), {"axis": 1, "reverse": False}, TIES, name="ties")
    for primitive in (cummax_p, cummin_p, cumlogsumexp_p):
        params = {"axis": 0, "reverse": False}
        yield Sample(primitive, (awkward("float32"),), params, EXTREME)


def _reductions() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _named()
    yield from _programs()
    yield from _cumulative()


def _sort() -> Iterator[Sample]:
    params: dict[str, Any] = {"dimension": 1, "is_stable": True, "num_keys": 1}
    for dtype in (*FLOATS, *INTEGERS, "bool"):
        yield Sample(sort_p, (spaced("sort", (2, 5), dtype),), params)
    x = spaced("sort", (3, 4), "float32")
    several = (x, spaced("other", (3, 4), "float32"), np.arange(12, dtype="int32").reshape(3, 4))
    yield Sample(sort_p, several, {**params, "dimension": 0})
    by_two = {"dimension": 1, "is_stable": True, "num_keys": 2}
    yield Sample(sort_p, (ties(), several[2][:, ::-1], x), by_two, TIES, name="two keys")
    yield Sample(sort_p, (ties(), several[2]), params, TIES, name="ties")
    yield Sample(sort_p, (x[:, :0],), params, EMPTY)
    yield Sample(sort_p, (x[:0],), params, EMPTY)
    for dtype in ("float32", "bfloat16", "complex64", "int32", "uint8"):
        values = np.concatenate([awkward(dtype).reshape(-1)] * 2)
        result = {"dimension": 0, "is_stable": True, "num_keys": 1}
        order = np.arange(values.size, dtype=np.int32)
        yield Sample(sort_p, (values, order), result, EXTREME)


def _largest() -> Iterator[Sample]:
    for dtype in (*FLOATS[:3], *INTEGERS, "bool"):
        tags = TIES if dtype == "bool" else frozenset()
        yield Sample(top_k_p, (spaced("top_k", (2, 5), dtype),), {"k": 3, "axis": 1}, tags)
    x = spaced("top_k", (4, 3), "float32")
    yield Sample(top_k_p, (x,), {"k": 2, "axis": 0})
    yield Sample(top_k_p, (x,), {"k": 0, "axis": 1}, EMPTY)
    yield Sample(top_k_p, (ties(),), {"k": 4, "axis": 1}, TIES, name="ties")
    yield Sample(top_k_p, (awkward("float32"),), {"k": 11, "axis": 0}, EXTREME)
    for largest in (True, False):
        for aggregate in (True, False):
            params = {
                "k": 2, "reduction_dimension": 1, "recall_target": 0.95, "is_max_k": largest,
                "reduction_input_size_override": -1, "aggregate_to_topk": aggregate,
            }  # fmt: skip
            yield Sample(approx_top_k_p, (spaced("approx", (2, 5), "float32"),), params)


def _sorting() -> Iterator[Sample]:
    """Samples of these primitives."""
    yield from _sort()
    yield from _largest()


def samples() -> Iterator[Sample]:
    """The samples of reductions, then those of sorts."""
    yield from _reductions()
    yield from _sorting()
