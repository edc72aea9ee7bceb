"""The law of batching's rule table."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from dovetail_core import HiType, lower_values, typeof
from dovetail_testing import Sample, assert_close, law
from dovetail_testing.kernel_laws import arrays_of

from .trace import Axis, batch_values, carrier_of

SIZE = 3
Dims = tuple[Any, ...]


@law("batch", without=("random", "pooled"), applies=lambda s: bool(s.args), mixed=False)
def batch_law(sample: Sample) -> None:
    """A batched operation agrees with a loop, for every choice of mapped operands and axes.

    Samples tagged ``"pooled"``, which draw for a complete axis at once, are excluded. On an axis
    without elements, results have the types that the type rule gives.
    """
    choices = _choices(sample)
    for dims in choices:
        _against_loop(sample, dims)
    empty = next((d for d in choices if None not in d), choices[0])
    _typed(sample, Axis(0), [_stacked(x, d, 0) for x, d in zip(sample.args, empty)], empty)


def _against_loop(sample: Sample, dims: Dims) -> None:
    args = [_stacked(x, d, SIZE) for x, d in zip(sample.args, dims)]
    result = _typed(sample, Axis(SIZE), args, dims)
    rows = [
        [
            arrays_of([y])
            for y in sample.flat(*(_element(x, d, k) for x, d in zip(sample.args, dims)))
        ]
        for k in range(SIZE)
    ]
    for value, elements in zip(result, zip(*rows), strict=True):
        for i, (array, axis) in enumerate(zip(*_in_front(value))):
            y = elements[0][i] if axis is None else np.stack([e[i] for e in elements], axis)
            assert_close(array, y, f"mapped axes {dims}", scale=sample.scale)


def _typed(sample: Sample, axis: Axis, args: list[Any], dims: Dims) -> list[Any]:
    """The batched results, after a check that their elements have the types of the type rule."""
    result = batch_values(sample.flat, axis, args, dims)
    elements = [carrier_of(axis).aval(value) for value in zip(args, dims)]
    for value, want in zip(result, sample.infer(elements).avals, strict=True):
        got = carrier_of(axis).aval(value)
        assert got == want, (
            f"type {got.str_short()} per element, the type rule says {want.str_short()} (axis of "
            f"length {axis.size}, mapped {dims})"
        )
    return [carrier_of(axis).arrays(value, True, 0)[0] for value in result]


def _in_front(value: Any) -> tuple[list[Any], list[int | None]]:
    """The arrays of a value whose mapped axis comes first, and its position in each of them."""
    aval = typeof(value)
    arrays = arrays_of([value])
    if isinstance(aval, HiType):
        return arrays, aval.lo_axes(aval.leading_spec())
    return arrays, [0] * len(arrays)


def _choices(sample: Sample) -> list[Dims]:
    """Mapped axes of operands: each operand alone; all first, all in the middle, all last; and, of
    few operands, every combination of first and last."""
    axes = [_axes(typeof(x)) for x in sample.args]
    n = len(axes)
    result: list[Dims] = []
    if n <= 2:
        result += product(*[(None, a[0], a[-1]) for a in axes])
    result += [tuple(a[0] if i == j else None for i, a in enumerate(axes)) for j in range(n)]
    result += [tuple(a[k] for a in axes) for k in (0, 1, 2)]
    return [d for d in dict.fromkeys(result) if any(p is not None for p in d)]


def _axes(aval: Any) -> list[Any]:
    """The first position of a mapped axis, one in the middle, and the last."""
    if isinstance(aval, HiType):
        return [aval.leading_spec()] * 3
    return [0, min(1, aval.ndim), aval.ndim]


def _element(x: Any, dim: Any, k: int) -> Any:
    """The k-th element: the values of ``x`` in another order; a high value itself."""
    aval: Any = typeof(x)
    if dim is None or isinstance(aval, HiType):
        return x
    if aval.is_high:
        return aval.raise_val(*[_element(a, dim, k) for a in _arrays(x)])
    array = np.asarray(x)
    if isinstance(x, (bool, int, float, complex)):
        array = array.astype(aval.dtype)
    return (np.roll(array, k) if array.ndim else array)[()]


def _stacked(x: Any, dim: Any, size: int) -> Any:
    """The operand itself, or ``size`` elements of it."""
    aval: Any = typeof(x)
    if dim is None:
        return x
    if aval.is_high and not isinstance(aval, HiType):
        return aval.raise_val(*[_stacked(a, dim, size) for a in _arrays(x)])
    if not aval.is_high:
        elements = [_element(x, dim, k) for k in range(max(1, size))]
        return np.stack(elements, axis=dim).take(range(size), axis=dim)
    mapped: Any = aval.unmapped(size, dim)
    pairs = zip(map(np.asarray, _arrays(x)), mapped.lo_axes(dim))
    stacked = [y if d is None else np.expand_dims(y, d).repeat(size, d) for y, d in pairs]
    return mapped.raise_val(*stacked)


def _arrays(x: Any) -> list[Any]:
    return lower_values([x], "requested by the law of batching")
