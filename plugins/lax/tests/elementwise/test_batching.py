"""Batched operations against loops: every combination of mapped, shared and scalar operands."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
from dovetail_batching import vmap
from dovetail_core import Primitive, ShapedArray, stage
from dovetail_testing import Sample, assert_close, stacked_loop

from .conftest import traced

SIZE = 3


def mapped(x: Any, dim: int | None) -> Any:
    array = np.asarray(x)
    if dim is None:
        return array[()]
    return np.stack([np.roll(array, k) if array.ndim else array for k in range(SIZE)], axis=dim)


def check(sample: Sample, dims: tuple[int | None, ...]) -> None:
    args = [mapped(x, d) for x, d in zip(sample.args, dims)]
    result = traced(vmap(sample.flat, in_axes=dims), *args)(*args)
    one = traced(sample.flat, *[mapped(x, None) for x in sample.args])
    for got, want in zip(result, stacked_loop(one, args, dims, SIZE), strict=True):
        assert_close(got, want, f"{sample} mapped {dims}", factor=8)


def test_samples(primitive_samples: list[Sample]) -> None:
    primitive_samples = [s for s in primitive_samples if "pooled" not in s.tags]
    shaped = [s for s in primitive_samples if s.args][:2] + [
        s for s in primitive_samples if len({np.shape(x) for x in s.args}) > 1
    ][:2]
    if shaped and shaped[0].primitive.decomposition is not None:
        shaped = shaped[:1]  # the same rule, and slow to compile
    for sample in shaped:
        last = [np.ndim(x) for x in sample.args]
        n = len(last)
        choices = [(0,) * n, tuple(last), *(tuple(0 if i == j else None for i in range(n))
                                           for j in range(n))]  # fmt: skip
        for dims in dict.fromkeys(choices):
            check(sample, dims)


SHAPES = [((4,), (4,)), ((4,), ()), ((), (4,)), ((2, 3), (2, 3)), ((), ())]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_two_operands_in_every_place(shapes: tuple[tuple[int, ...], tuple[int, ...]]) -> None:
    args = [np.arange(1.0, 1 + np.prod(s), dtype=np.float32).reshape(s)[()] for s in shapes]
    places = [[None, *range(len(s) + 1)] for s in shapes]
    for dims in product(*places):
        if any(d is not None for d in dims):
            check(Sample(lax.sub_p, tuple(args)), dims)


def test_three_operands_in_every_place() -> None:
    pred, x, s = np.array([True, False]), np.array([1, 2], np.float32), np.float32(5)
    for dims in product([None, 0, 1], [None, 0, 1], [None, 0]):
        if any(d is not None for d in dims):
            check(Sample(lax.select_n_p, (pred, x, s)), dims)
    for dims in product([None, 0], [None, 0, 1], [None, 0]):
        if any(d is not None for d in dims):
            check(Sample(lax.clamp_p, (s, x, s + 1)), dims)


def operations(f: Any, *avals: ShapedArray) -> list[Primitive]:
    return [e.primitive for e in stage(lambda *xs: [f(*xs)], avals)[0].eqns]


def test_aligned_operands_cost_one_operation() -> None:
    x, y = ShapedArray((3, 4), "float32"), ShapedArray((3,), "float32")
    assert operations(vmap(lax.add), x, x) == [lax.add_p]
    assert operations(vmap(lambda x: lax.mul(x, 2.0)), x) == [lax.mul_p]
    z = ShapedArray((), "float32")
    assert operations(vmap(lax.add, in_axes=(0, None)), y, z) == [lax.add_p]
    assert operations(vmap(lambda x: lax.select(lax.gt(x, 0.0), x, 0.0)), x) == [
        lax.gt_p, lax.select_n_p,
    ]  # fmt: skip


def test_operands_are_aligned_in_front() -> None:
    """What follows has the axis in front, so that it is moved once, whoever comes first."""
    last, front = ShapedArray((3, 4), "float32"), ShapedArray((4, 3), "float32")

    def chain(x: Any, y: Any) -> Any:
        return lax.add(lax.mul(x, y), y)

    for axes, avals in (((1, 0), (last, front)), ((0, 1), (front, last))):
        result = operations(vmap(chain, in_axes=axes), *avals)
        assert result.count(lax.transpose_p) == (1 if axes == (1, 0) else 2)


@pytest.mark.parametrize("n", [0, 1, 3])
@pytest.mark.parametrize("axis", [0, 1])
def test_the_first_state_draws_for_a_whole_axis(n: int, axis: int) -> None:
    keys = np.arange(4 * n, dtype=np.uint32).reshape(n, 4)
    draw = vmap(lambda k: lax.rng_bit_generator(k, (3,)), in_axes=axis)
    states, bits = draw(keys.T if axis else keys)
    assert states.shape == (n, 4) and bits.shape == (n, 3)
    if n:
        state, drawn = lax.rng_bit_generator(keys[0], (n, 3))
        np.testing.assert_array_equal(bits, drawn)
        np.testing.assert_array_equal(states, [state, *keys[1:]])


def test_each_pair_of_bounds_draws_for_itself() -> None:
    lows = np.array([0, 10], np.float32)
    x = np.asarray(vmap(lambda a: lax.rng_uniform(a, np.float32(20), (50,)))(lows))
    assert x.shape == (2, 50) and x[1].min() >= 10 and x[0].min() >= 0
