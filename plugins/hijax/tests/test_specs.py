"""Specs of mapped axes: names in place of integers, and integers that name no axis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail.hijax import HiPrimitive, HiType, ShapedArray, register_hitype


@dataclass(frozen=True)
class LettersType(HiType):
    """An array whose axes have letters; a spec is a letter, or an integer for the one in front."""

    axes: tuple[tuple[str, int], ...]

    def lo_ty(self) -> list[Any]:
        return [ShapedArray([n for _, n in self.axes], "float32")]

    def lower_val(self, value: Letters) -> list[Any]:
        return [value.array]

    def raise_val(self, *arrays: Any) -> Letters:
        return Letters(arrays[0], "".join(a for a, _ in self.axes))

    def tangent_type(self) -> LettersType:
        return self

    def mapped(self, size: int, spec: Any) -> LettersType:
        i = self.lo_axes(spec)[0]
        assert i is not None
        return LettersType(self.axes[:i] + self.axes[i + 1 :])

    def unmapped(self, size: int, spec: Any) -> LettersType:
        front = [a for a in self.axes if a[0] == "?"]
        new = ("?" if spec == 0 else spec, size)
        at = 0 if spec == 0 else len(front)
        return LettersType((*self.axes[:at], new, *self.axes[at:]))

    def lo_axes(self, spec: Any) -> list[int | None]:
        return [spec if isinstance(spec, int) else "".join(a for a, _ in self.axes).index(spec)]


@dataclass(frozen=True, eq=False)
class Letters:
    array: Any
    letters: str


register_hitype(
    Letters, lambda x: LettersType(tuple(zip(x.letters, map(int, dovetail.typeof(x.array).shape))))
)


class Twice(HiPrimitive):
    """Twice the value."""

    def abstract_eval(self, x: Any) -> Any:
        return x

    def to_lo(self, x: Letters) -> Letters:
        return Letters(x.array * 2, x.letters)

    def batch(self, axis: Any, args: Any, dims: Any) -> Any:
        return self.bind(*args), dims[0]


twice_p = Twice("test_specs.twice")


def test_a_name_says_the_same_axis_under_another_map():
    """Of two maps, the inner one moves its axis while the outer one's stands in front."""
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    inner = dovetail.vmap(twice_p.bind, in_axes=("b",), out_axes="b")
    result = dovetail.vmap(inner, in_axes=("a",), out_axes="a")(Letters(dnp.asarray(array), "abc"))
    assert result.letters == "abc"
    np.testing.assert_array_equal(result.array, 2 * array)
    shared = dovetail.vmap(inner, in_axes=(None,), out_axes="a", axis_size=2)
    repeated = dovetail.vmap(shared, in_axes=("c",), out_axes="c")(
        Letters(dnp.asarray(array[0]), "bc")
    )
    assert repeated.letters == "cab"
    np.testing.assert_array_equal(
        repeated.array, 2 * np.broadcast_to(array[0].T[:, None], (4, 2, 3))
    )


@dataclass(frozen=True)
class PairType(HiType):
    """A matrix and a number."""

    def lo_ty(self) -> list[Any]:
        return [ShapedArray((2, 3), "float32"), ShapedArray((), "float32")]

    def lower_val(self, value: Pair) -> list[Any]:
        return [value.matrix, value.number]

    def str_short(self) -> str:
        return "pair"


@dataclass(frozen=True, eq=False)
class Pair:
    matrix: Any
    number: Any


register_hitype(Pair, lambda p: PairType())


@pytest.mark.parametrize(
    "spec, aval, d",
    [
        (0, r"f32\[\]", 0),
        ((2, None), r"f32\[2,3\]", 2),
        ((-3, None), r"f32\[2,3\]", -3),
    ],
)
def test_an_axis_that_an_array_does_not_have(spec, aval, d):
    message = (
        r"names no axis of pair at .*test_specs\.py.*: an array that it is made of, "
        rf"{aval}, has no axis {d}\. Pass None in place of an axis for arrays that are not mapped\."
    )
    with pytest.raises(ValueError, match=message):
        dovetail.vmap(lambda p: p, in_axes=(spec,))(Pair(dnp.zeros((2, 3)), dnp.float32(1)))
