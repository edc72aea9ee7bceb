"""The law of batching: what it tries a rule on, and that wrong rules break it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from dovetail_batching import batch_rules
from dovetail_batching.laws import SIZE, batch_law
from dovetail_core import Primitive
from dovetail_core.rules.evaluation import eval_rules
from dovetail_testing import Sample

X = np.array([1.0, 2.0, 4.0, 8.0, 16.0], np.float32)
Y = np.array([1.0, 10.0, 100.0, 1e3, 1e4], np.float32)


def _front(x: Any, dim: int | None, size: int = SIZE) -> Any:
    """An operand with the mapped axis in front, repeated where it has none."""
    x = np.asarray(x)
    return np.broadcast_to(x, (size, *x.shape)) if dim is None else np.moveaxis(x, dim, 0)


@pytest.fixture
def weighted() -> Iterator[Callable[..., Primitive]]:
    """Makes a row: the sum of its operands times 1, 2, 3, ...; with a given rule of batching."""
    made: list[Primitive] = []

    def make(rule: Any) -> Primitive:
        p = Primitive(f"batch_law_test.weighted_{len(made)}")
        p.def_abstract_eval(lambda *avals: avals[0])
        eval_rules.register(p)(lambda *xs: _weighted(xs))
        batch_rules.register(p)(rule)
        made.append(p)
        return p

    yield make
    for p in made:
        del eval_rules.rules[p], batch_rules.rules[p]


def _weighted(xs: Any) -> Any:
    return sum((np.asarray(x) * np.float32(i + 1) for i, x in enumerate(xs)), np.float32(0))


def _right(axis: Any, args: Any, dims: Any) -> Any:
    return _weighted([_front(x, d, axis.size) for x, d in zip(args, dims)]), 0


@pytest.mark.parametrize(
    ("args", "wanted"),
    [
        ((X,), {(0,), (1,)}),
        ((X, Y), {(0, None), (1, None), (None, 0), (None, 1), (0, 0), (0, 1), (1, 0), (1, 1)}),
        ((X, Y, X), {(0, None, None), (None, 0, None), (None, None, 0), (0, 0, 0), (1, 1, 1)}),
        ((np.float32(2), 3.0), {(0, None), (None, 0), (0, 0)}),
    ],
)
def test_every_operand_is_mapped_alone_and_with_the_others(weighted, args, wanted) -> None:
    tried: list[Any] = []

    def rule(axis: Any, args: Any, dims: Any) -> Any:
        if not axis.size:
            return _right(axis, args, dims)
        assert axis.size == SIZE
        tried.append(tuple(dims))
        for x, d, original in zip(args, dims, sample.args):
            shape = list(np.shape(original))
            if d is not None:
                shape.insert(d, SIZE)
            assert np.shape(x) == tuple(shape), "a mapped operand has the axis, others have none"
        return _right(axis, args, dims)

    sample = Sample(weighted(rule), args)
    batch_law(sample)
    assert set(tried) == wanted and len(tried) == len(wanted)


def _takes_the_first_slice(axis: Any, args: Any, dims: Any) -> Any:
    return _weighted([x if d is None else np.take(x, 0, d) for x, d in zip(args, dims)]), None


def _overlooks_axes_at_the_end(axis: Any, args: Any, dims: Any) -> Any:
    return _right(axis, args, [d and 0 for d in dims])


def _names_the_wrong_axis(axis: Any, args: Any, dims: Any) -> Any:
    return _right(axis, args, dims)[0], 1


def _forgets_a_weight(axis: Any, args: Any, dims: Any) -> Any:
    if dims[1] is None:
        return _right(axis, args, dims)
    return sum(_front(x, d) for x, d in zip(args, dims)), 0


@pytest.mark.parametrize(
    "rule",
    [_takes_the_first_slice, _overlooks_axes_at_the_end, _names_the_wrong_axis, _forgets_a_weight],
)
def test_a_wrong_rule_breaks_it(weighted, rule) -> None:
    with pytest.raises((AssertionError, TypeError, ValueError)):
        batch_law(Sample(weighted(rule), (X, Y)))
    batch_law(Sample(weighted(_right), (X, Y)))
