"""The law of primitives' traits: an operation has them on its samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dovetail_core import ShapedArray, Traits, is_inexact

from .laws import law
from .oracles import random_like, tolerance, widened
from .samples import Sample

Values = list[np.ndarray[Any, Any]]


def _has_traits(sample: Sample) -> bool:
    declared = replace(sample.primitive.traits, parameters={})
    return declared != Traits() and all(
        isinstance(a, ShapedArray) and not a.is_high for a in sample.avals
    )


@law("traits", without=("extreme", "random"), applies=_has_traits, mixed=False)
def trait_law(sample: Sample) -> None:
    """The operation is linear, constant, monotone, ... in the operands that its traits name."""
    with np.errstate(all="ignore"):
        _linear(sample)
        _moves(sample)
        _elementwise(sample)
        _commutative(sample)
        if "nonsmooth" not in sample.tags:
            _monotone(sample)
            _constant(sample)


def _results(sample: Sample, args: Sequence[Any]) -> Values:
    return [np.asarray(y) for y in sample.flat(*args)]


def _inexact_operands(sample: Sample, operands: Sequence[int]) -> list[int]:
    """The operands whose values can be changed a little: those of inexact types."""
    return [i for i in operands if i < len(sample.args) and is_inexact(_dtype(sample.avals[i]))]


def _dtype(aval: Any) -> Any:
    return aval.dtype


def _with(sample: Sample, others: dict[int, Any]) -> list[Any]:
    typed = {i: np.asarray(x).astype(_dtype(sample.avals[i])) for i, x in others.items()}
    return [typed.get(i, x) for i, x in enumerate(sample.args)]


def _pairs(sample: Sample, xs: Values, ys: Values) -> Iterator[tuple[Any, Any, float]]:
    """Pairs of the finite elements of results, with the tolerance of their difference."""
    for x, y in zip(xs, ys, strict=True):
        a, b = widened(x).ravel(), widened(y).ravel()
        known = np.isfinite(a) & np.isfinite(b)
        largest = max([np.abs(v[known]).max(initial=0) for v in (a, b)])
        coarsest = max(tolerance(d, 256) for d in [x.dtype, *map(_dtype, sample.avals)])
        yield a[known], b[known], coarsest * (1 + largest + sample.scale)


def _linear(sample: Sample) -> None:
    traits = sample.primitive.traits
    for group in traits.groups(len(sample.args), dict(sample.params)):
        operands = _inexact_operands(sample, group)
        if len(operands) < len(group):
            continue
        others = {i: random_like(sample.avals[i], 7 + i) for i in operands}
        mixed = {i: 0.75 * widened(sample.args[i]) - 0.5 * widened(others[i]) for i in operands}
        at_x, at_y = _results(sample, sample.args), _results(sample, _with(sample, others))
        result = _results(sample, _with(sample, mixed))
        expected = [
            (0.75 * widened(x) - 0.5 * widened(y)).astype(z.dtype)
            for x, y, z in zip(at_x, at_y, result)
        ]
        scales = zip(_pairs(sample, at_x, at_y), _pairs(sample, result, expected), result)
        for (_, _, around), (a, b, margin), z in scales:
            if is_inexact(z.dtype):
                right = np.all(np.abs(a - b) <= around + margin)
                assert right, f"it is not linear in operands {group}: {a}, {b}"


def _moves(sample: Sample) -> None:
    """Assert that mapping the operands' elements maps the results' elements, but for constants."""
    if not sample.primitive.traits.moves:
        return
    data = _inexact_operands(sample, range(len(sample.args)))
    before = _results(sample, sample.args)
    maps: tuple[Callable[[Any], Any], ...] = (np.negative, lambda x: x * 2)  # both are exact
    after = [_results(sample, _with(sample, {i: f(sample.args[i]) for i in data})) for f in maps]
    for x, *mapped in zip(before, *after):
        if data and is_inexact(x.dtype):
            ways = [[_alike(f(x), y), _alike(x, y)] for f, y in zip(maps, mapped)]
            follows, stays = (np.logical_and(*way) for way in zip(*ways))
            assert np.all(follows | stays), "it does not move elements as they are"


def _alike(x: Any, y: Any) -> Any:
    return (x == y) | ((x != x) & (y != y))


def _constant(sample: Sample) -> None:
    for i in _inexact_operands(sample, sample.primitive.traits.constant):
        if _dtype(sample.avals[i]).kind == "c":
            continue
        step = {i: widened(sample.args[i]) * (1 + 8 * tolerance(_dtype(sample.avals[i]), 1))}
        before, after = _results(sample, sample.args), _results(sample, _with(sample, step))
        for x, y in zip(before, after):
            assert np.array_equal(x, y), f"it is not constant around operand {i}: {x}, {y}"


def _monotone(sample: Sample) -> None:
    for i in _inexact_operands(sample, range(len(sample.args))):
        direction = sample.primitive.traits.direction(i)
        if direction == "." or _dtype(sample.avals[i]).kind == "c":
            continue
        further = {i: widened(sample.args[i]) + np.abs(random_like(sample.avals[i], i))}
        before, after = _results(sample, sample.args), _results(sample, _with(sample, further))
        for a, b, margin in _pairs(sample, before, after):
            rise = b - a if direction == "+" else a - b
            assert np.all(rise >= -margin), f"it does not go {direction} with operand {i}"


def _elementwise(sample: Sample) -> None:
    if sample.primitive.traits.elementwise:
        turned = {i: np.flip(x) for i, x in enumerate(sample.args) if np.ndim(x)}
        before, after = _results(sample, sample.args), _results(sample, _with(sample, turned))
        for x, y in zip(before, after):
            same = np.array_equal(np.flip(x), y, equal_nan=is_inexact(x.dtype))
            assert same, "it is not elementwise: reversed operands give something else, reversed"


def _commutative(sample: Sample) -> None:
    if sample.primitive.traits.commutative:
        x, y, *rest = sample.args
        before, after = _results(sample, sample.args), _results(sample, [y, x, *rest])
        for a, b in zip(before, after):
            same = np.array_equal(a, b, equal_nan=is_inexact(a.dtype))
            assert same, f"it does not commute: {a}, {b}"
