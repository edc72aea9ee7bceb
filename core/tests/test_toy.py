"""The toy primitives refuse what does not fit, as primitives of plugins should."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import AbstractValue, ShapedArray, stage_closed
from dovetail_testing.toy import add_p, mul_p, select_p, sin_p, sum_p
from dovetail_testing.toy_control import cond_p, scan_p, while_p

F32 = ShapedArray((), np.float32)
I32 = ShapedArray((), np.int32)


class Token(AbstractValue):
    def str_short(self):
        return "token"


def refuse(primitive, *types, **params):
    with pytest.raises(TypeError) as e:
        primitive.infer(types, params)
    return str(e.value)


def test_elementwise_rows():
    assert refuse(add_p, F32, I32) == (
        "toy.add takes operands of one dtype and shape (or scalars), got f32[], i32[]"
    )
    assert refuse(sin_p, Token()) == "toy.sin takes arrays, got a value of type token"
    assert add_p.infer((ShapedArray((3,), np.float32), F32), {}).avals[0].shape == (3,)
    assert mul_p.infer((F32.update(weak_type=True), F32), {}).avals[0] is F32


def test_choices_and_sums():
    assert refuse(select_p, F32, F32, F32) == "toy.select chooses by a boolean, got f32[]"
    assert refuse(sum_p, F32, axes=(0,)) == "toy.sum over axes (0,) of a value of type f32[]"
    many = ShapedArray((3,), np.bool_)
    assert select_p.infer((many, F32, F32), {}).avals[0].shape == (3,)


def test_control_flow():
    same = stage_closed(lambda x: [x], [F32])
    other = stage_closed(lambda x: [np.int32(1)], [F32])
    assert refuse(cond_p, I32, F32, branches=(same, other)) == (
        "the branches of toy.cond return different types: ['f32[]'] and ['i32[]']"
    )
    assert "the carry of toy.while changes" in refuse(while_p, F32, cond=same, body=other)
    assert "the carry of toy.scan changes" in refuse(
        scan_p, F32, program=other, consts=0, carry=1, length=2
    )
