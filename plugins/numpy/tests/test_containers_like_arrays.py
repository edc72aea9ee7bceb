"""Containers whose classes have all attributes of arrays, each with a value for every element."""

from __future__ import annotations

import collections
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_batching import vmap
from dovetail_jit import jit


class Blocks:
    """A sequence of arrays of several shapes that answers for each of them."""

    def __init__(self, *arrays: Any) -> None:
        self.arrays = arrays

    def __len__(self) -> int:
        return len(self.arrays)

    def __getitem__(self, i: int) -> Any:
        return self.arrays[i]

    aval = property(lambda self: tuple(x.aval for x in self.arrays))
    shape = property(lambda self: tuple(x.shape for x in self.arrays))
    dtype = property(lambda self: tuple(x.dtype for x in self.arrays))


OPERATORS = "add sub mul truediv floordiv mod pow matmul lshift rshift and xor or divmod".split()
for _name in OPERATORS:
    setattr(Blocks, f"__r{_name}__", lambda self, other: len(self))


def _operator(name: str) -> Callable[[Any, Any], Any]:
    return divmod if name == "divmod" else getattr(operator, f"__{name}__")


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_are_left_to_them(name: str) -> None:
    x, blocks = dnp.arange(1, 3), Blocks(dnp.ones(2), dnp.zeros(3))
    f = _operator(name)
    assert f(x, blocks) == 2
    assert f(x, blocks) == 2  # where the pair of types is known
    assert jit(lambda x: x * f(x, blocks))(x).tolist() == [2, 4]
    assert vmap(lambda x: x * f(x, blocks))(x).tolist() == [2, 4]


def test_comparisons_are_left_to_them() -> None:
    x, blocks = dnp.arange(1, 3), Blocks(dnp.ones(2))
    assert (x == blocks) is False and (x != blocks) is True
    with pytest.raises(TypeError, match="'<' not supported"):
        x < blocks  # noqa: B015


def test_sequences_of_any_class_are_joined() -> None:
    blocks = Blocks(dnp.ones(2), dnp.zeros(2))
    assert dnp.concatenate(blocks).tolist() == [1, 1, 0, 0]
    assert dnp.hstack(blocks).tolist() == [1, 1, 0, 0]
    assert dnp.stack(blocks).tolist() == [[1, 1], [0, 0]]
    assert dnp.concatenate(collections.deque([np.ones(1, np.float32)])).tolist() == [1]
    for wrong in ("ab", b"ab", {0: dnp.ones(1)}, {1}, iter([dnp.ones(1)])):
        with pytest.raises(TypeError, match="takes a sequence of arrays, got"):
            dnp.concatenate(wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("f", [dnp.asarray, dnp.array, dnp.sum, dnp.sort, dnp.sin, dnp.isfinite])
def test_functions_refuse_them(f: Callable[[Any], Any]) -> None:
    with pytest.raises(TypeError, match="of type Blocks"):
        f(Blocks(dnp.ones(2), dnp.zeros(3)))
