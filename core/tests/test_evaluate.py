"""Evaluation: the table ``eval``, programs run equation by equation, the evaluator."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import (
    MissingRule,
    Primitive,
    ShapedArray,
    def_impl,
    eval_jaxpr,
    eval_rules,
    jaxpr_as_fun,
    stage_closed,
)
from dovetail_testing.toy import add_p, mul_p, sincos_p, square_p
from dovetail_testing.toy_control import cond_p, samples, scan_p, while_p

VEC = ShapedArray((3,), np.float32)


def test_a_program_gives_what_the_function_gives():
    k = np.arange(3, dtype=np.float32)

    def f(x):
        s, c = sincos_p.bind(mul_p.bind(x, 2.0))
        return [add_p.bind(s, k), c, 1.5]

    ir = stage_closed(f, [VEC])
    x = np.array([0.1, 0.2, 0.3], np.float32)
    for a, b in zip(eval_jaxpr(ir.jaxpr, ir.consts, x), f(x), strict=True):
        np.testing.assert_array_equal(a, b)
    assert jaxpr_as_fun(ir)(x)[2] == 1.5


def test_an_error_for_a_wrong_number_of_inputs():
    ir = stage_closed(lambda x: [x], [VEC])
    with pytest.raises(TypeError, match="the program takes 1 inputs, 2 given"):
        jaxpr_as_fun(ir)(1, 2)


def test_an_empty_rule_is_computed_by_the_decomposition():
    assert square_p.bind(np.float32(3)) == 9
    assert eval_rules.origins[square_p].kind == "derived"


def test_an_error_for_a_row_that_nothing_computes():
    p = Primitive("test.nothing")
    with pytest.raises(MissingRule) as e:
        p.bind(np.float32(1))
    text = str(e.value)
    assert text.startswith("table 'eval' has no rule for primitive 'test.nothing' at ")
    assert "test_evaluate.py" in text and "the table from dovetail-core" in text


def test_an_evaluator_plugin_comes_before_decompositions(site):
    site.plugin("acme", "providers={'evaluator': 'acme_eval:evaluator'}")
    site.module(
        "acme_eval",
        "def evaluator(primitive):\n    return lambda *args, **params: (primitive.name, args)\n",
    )
    assert square_p.bind(3.0) == ("toy.square", (3.0,))


def test_rules_of_ones_own_come_before_the_evaluator():
    p = Primitive("test.own")
    p.def_decomposition(lambda x: 0)

    @def_impl(p)
    def _own(x):
        return x + 1

    assert p.bind(1) == 2 and eval_rules[p] is _own


def test_toy_control_flow_computes_what_it_says():
    result = {s.primitive: s.bind() for s in samples() if "empty" not in s.tags}
    np.testing.assert_allclose(result[while_p], [4.0])
    np.testing.assert_allclose(result[cond_p], [1.0])
    carry, stacked = result[scan_p]
    np.testing.assert_allclose(carry, 0.5 + 2.0 * (1 - 2 + 0.25), rtol=1e-6)
    np.testing.assert_allclose(stacked, np.sin([0.5, 2.5, -1.5]), rtol=1e-6)
