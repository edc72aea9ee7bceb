"""Batch rules that return something else than their table asks for are found at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail.numpy as dnp
from dovetail_batching import batch_rules, vmap
from dovetail_core import Primitive

X = np.ones((4, 3), np.float32)


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        ("bare", lambda axis, args, dims: args[0],
         r"a value of type f32\[4,3\] at .*; it must return a pair \(result, position of its "
         r"mapped axis\)\."),
        ("range", lambda axis, args, dims: (args[0], 2),
         r"2 as the mapped axis of a f32\[4,3\] at .*; that must be the position, from the front, "
         r"of an axis of length 4, or None\."),
        ("negative", lambda axis, args, dims: (args[0], -2),
         r"-2 as the mapped axis of a f32\[4,3\] at "),
        ("size", lambda axis, args, dims: (args[0], 1),
         r"1 as the mapped axis of a f32\[4,3\] at .* of an axis of length 4"),
        ("type", lambda axis, args, dims: (args[0], (0,)),
         r"\(0,\) as the mapped axis of a f32\[4,3\] at "),
        ("text", lambda axis, args, dims: ("one", 0),
         r"a str as a result at .*; that must be a value\."),
    ],
)  # fmt: skip
def test_results_of_batch_rules(name: str, rule: Any, message: str) -> None:
    p = Primitive(f"batch_checks.{name}")
    p.def_abstract_eval(lambda x: x)
    batch_rules.register(p)(rule)
    with pytest.raises(TypeError, match=message) as e:
        vmap(p.bind)(X)
    start = f"the rule of 'batching.batch' for 'batch_checks.{name}' ({__name__}:"
    assert str(e.value).startswith(start) and "test_rule_checks.py" in str(e.value)


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        ("dims", lambda axis, args, dims: ([args[0], args[0]], [0]),
         r"1 result at .*; it must return a list of 2, one per result\."),
        ("single", lambda axis, args, dims: (args[0], 0),
         r"a value of type f32\[4,3\] at .*; it must return a list, one per result\."),
        ("dim", lambda axis, args, dims: ([args[0], args[0]], 0),
         r"a value of type i32\[\]~ at .*; it must return a list of 2, one per result\."),
    ],
)  # fmt: skip
def test_lists_of_batch_rules(name: str, rule: Any, message: str) -> None:
    p = Primitive(f"batch_checks.two_{name}", multiple_results=True)
    p.def_abstract_eval(lambda x: [x, x])
    batch_rules.register(p)(rule)
    with pytest.raises(TypeError, match=message):
        vmap(lambda x: p.bind(x)[0])(X)


def test_the_axis_may_be_anywhere() -> None:
    p = Primitive("batch_checks.turned")
    p.def_abstract_eval(lambda x: x)
    batch_rules.register(p)(lambda axis, args, dims: (dnp.transpose(args[0]), 1))
    np.testing.assert_array_equal(vmap(p.bind)(X), X)
