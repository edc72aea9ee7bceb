"""Keys by type and bits: of values, and of the parameters of primitives."""

from __future__ import annotations

import enum
import itertools
from typing import Any, NamedTuple

import numpy as np
import pytest

from dovetail_base.keys import ParameterKeys, exact_key
from dovetail_core import Primitive, ShapedArray

NAN = float("nan")


class Pair(NamedTuple):
    """A tuple of a type of its own."""

    x: Any
    y: Any


class Mode(enum.Enum):
    """A value that is itself alone."""

    CLIP = 0


class Count(enum.IntEnum):
    """A value that is equal to an integer."""

    ZERO = 0


# Each differs from all others in type or bits, and many are equal to Python.
ZEROS = [
    0, 0.0, -0.0, False, 0j, complex(0.0, -0.0), np.float32(0), np.float32(-0.0), np.int32(0),
    np.uint32(0), np.bool_(False), Count.ZERO, bytes(4), b"", "", None, Mode.CLIP,
]  # fmt: skip
ONES = [1, 1.0, True, NAN, "1", np.dtype(np.float32), np.dtype(np.int32), Pair]
VALUES = [
    *ZEROS, *ONES, *[(z,) for z in ZEROS], *[Pair(z, 1) for z in ZEROS], (0, 1), ((0,), 1),
    (Pair(0, 1),), frozenset({0}), frozenset({0.0}), frozenset({False}),
]  # fmt: skip


def again(value: Any) -> Any:
    """An equal value that is another object where it can be."""
    if isinstance(value, tuple):
        return type(value)._make(map(again, value)) if isinstance(value, Pair) else (
            tuple(map(again, value))
        )  # fmt: skip
    return type(value)(value) if isinstance(value, (float, complex, np.generic)) else value


def test_keys_of_values():
    for value in VALUES:
        assert exact_key(value) == exact_key(again(value)), value
    for a, b in itertools.combinations(VALUES, 2):
        assert exact_key(a) != exact_key(b), (a, b)


def test_keys_of_what_is_unhashable_are_so():
    for value in ([], {}, ([],), {1}):
        with pytest.raises(TypeError):
            hash(exact_key(value))


@pytest.mark.parametrize("values", [VALUES, VALUES[::-1]], ids=["forth", "back"])
@pytest.mark.parametrize("other", [0, np.dtype(np.int8)], ids=["plain", "dtype"])
def test_keys_of_parameters(values, other):
    keys, entries = ParameterKeys(), {}

    def find(params):
        return entries.get(keys.of(params))

    for i, value in enumerate(values):
        params = {"value": value, "other": other}
        assert find(params) is None, value
        entries[keys.new(params)] = i
        assert find({"value": again(value), "other": other}) == i
        assert find({"value": value}) is None


def test_remembered_types_tell_parameters_apart():
    p, calls = Primitive("test.exact"), []

    @p.def_abstract_eval
    def _rule(x, *, value):
        calls.append(value)
        return x

    for value in [*VALUES, *map(again, VALUES)]:
        p.infer((ShapedArray((), np.float32),), {"value": value})
    seen = [exact_key(v) for v in calls]
    assert {*seen} == {exact_key(v) for v in VALUES}
    # What was seen before the first value that is not Python's own may be seen once more.
    assert len(seen) <= len(VALUES) + len(ZEROS)


def test_only_so_many_types_are_remembered():
    p = Primitive("test.bounded")
    p._memo.most = 8
    p.def_abstract_eval(lambda x, *, n=0: x)
    for n in range(50):
        assert p.infer((ShapedArray((n,), np.float32),), {}).avals[0].shape == (n,)
        p.infer((ShapedArray((n,), np.float32),), {"n": n})
        assert len(p._memo) <= 8
