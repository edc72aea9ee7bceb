"""Rules that return something else than their table asks for are found where they are used."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import dovetail.numpy as dnp
from dovetail_ad import grad, jvp, jvp_rules, linearize, transpose_rules, vjp
from dovetail_base.options import enable_checks
from dovetail_core import Primitive

X = np.ones(3, np.float32)


def total(name: str) -> Primitive:
    """A primitive that sums a vector; no other test knows it."""
    p = Primitive(f"rule_checks.{name}")
    p.def_abstract_eval(lambda x: x.update(shape=()))
    p.def_decomposition(dnp.sum)
    jvp_rules.register(p)(lambda primals, tangents: (p.bind(*primals), p.bind(*tangents)))
    return p


def halves(name: str, rule: Callable[..., Any]) -> Primitive:
    """A primitive with two results, and its jvp rule."""
    p = Primitive(f"rule_checks.{name}", multiple_results=True)
    p.def_abstract_eval(lambda x: [x, x])
    p.def_decomposition(lambda x: [x / 2, x / 2])
    jvp_rules.register(p)(rule)
    return p


@pytest.mark.parametrize("checking", [False, True])
def test_a_cotangent_of_another_shape(checking: bool) -> None:
    p = total(f"shape_{checking}")
    transpose_rules.register(p)(lambda ct, x: [ct])
    with enable_checks(checking), pytest.raises(TypeError) as e:
        grad(p.bind)(X)
    said = str(e.value)
    assert said.startswith(f"the rule of 'ad.transpose' for 'rule_checks.shape_{checking}' (")
    assert f"({__name__}:" in said and "test_rule_checks.py" in said
    assert "returned a cotangent of type f32[] for operand 0 of type f32[3]" in said
    assert said.endswith("; cotangents of that are of type f32[3].")


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        ("dtype", lambda ct, x: [dnp.ones(3, "float16")],
         "a cotangent of type f16[3] for operand 0 of type f32[3]"),
        ("bare", lambda ct, x: ct,
         r"a value of type f32[] at .*; it must return a list of 1, one per operand."),
        ("count", lambda ct, x: [None, None],
         r"2 operands at .*; it must return a list of 1, one per operand."),
        ("text", lambda ct, x: ["one"],
         r"a str as the cotangent of operand 0 at .*; that must be a value."),
    ],
)  # fmt: skip
def test_other_results_of_transpose_rules(name: str, rule: Any, message: str) -> None:
    p = total(name)
    transpose_rules.register(p)(rule)
    with pytest.raises(TypeError, match=message.replace("[", r"\[").replace("]", r"\]")):
        vjp(p.bind, X)[1](np.float32(1))


@pytest.mark.parametrize(
    ("name", "rule", "message"),
    [
        ("j_shape", lambda p, t: (dnp.sum(p[0]), t[0]),
         "a tangent of type f32[3] for a result of type f32[] at .*; tangents of that are of type "
         "f32[]."),
        ("j_dtype", lambda p, t: (dnp.sum(p[0]), dnp.ones((), "int32")),
         "a tangent of type i32[] for a result of type f32[]"),
        ("j_int", lambda p, t: (dnp.ones((), "int32"), dnp.ones((), "int32")),
         "a tangent of type i32[] for a result of type i32[] at .*; tangents of that are of type "
         "float0[]."),
        ("j_bare", lambda p, t: dnp.sum(p[0]),
         "a value of type f32[] at .*; it must return a pair (result, tangent of the result)."),
        ("j_three", lambda p, t: (p[0], p[0], p[0]),
         "a tuple of length 3 at .*; it must return a pair"),
        ("j_text", lambda p, t: (dnp.sum(p[0]), "one"),
         "a str as a tangent at .*; that must be a value."),
    ],
)  # fmt: skip
@pytest.mark.parametrize("how", [jvp, lambda f, x, t: linearize(f, *x)])
def test_results_of_jvp_rules(name: str, rule: Any, message: str, how: Any) -> None:
    p = total(f"{name}_{how.__name__}")
    jvp_rules.register(p, override=True)(rule)
    for a, b in (("[", r"\["), ("]", r"\]"), ("(", r"\("), (")", r"\)")):
        message = message.replace(a, b)
    with pytest.raises(TypeError, match=message) as e:
        how(p.bind, (X,), (X,))
    assert f"the rule of 'ad.jvp' for 'rule_checks.{name}_{how.__name__}' ({__name__}:" in str(e)


def _too_few(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return [primals[0]], [tangents[0]]


def _too_few_tangents(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return [primals[0], primals[0]], [tangents[0]]


def _no_list(primals: Sequence[Any], tangents: Sequence[Any]) -> Any:
    return primals[0], tangents[0]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (_too_few, r"1 result at .*; it must return a list of 2, one per result\."),
        (_too_few_tangents, r"1 result at .*; it must return a list of 2, one per result\."),
        (_no_list, r"a value of type f32\[3\] at .*; it must return a list of 2"),
    ],
)
def test_lists_of_jvp_rules(rule: Any, message: str) -> None:
    p = halves(f"lists{rule.__name__}", rule)
    with pytest.raises(TypeError, match=message):
        jvp(lambda x: p.bind(x), (X,), (X,))


def _partial_eval(result: Callable[[list[Any]], Any]) -> Primitive:
    p = Primitive("two", multiple_results=True, anonymous=True)
    p.def_abstract_eval(lambda x: [x, x])

    def rule(trace: Any, args: Sequence[Any], params: dict[str, Any]) -> Any:
        return result(trace.record(p, args, params))

    p.rules = {
        "ad.partial_eval": rule,
        "ad.jvp": lambda primals, tangents: ([*primals] * 2, p.bind(*tangents)),
    }
    return p


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (lambda outs: outs[:1], r"1 result at .*; it must return a list of 2, one per result\."),
        (lambda outs: outs[0], r"a value of type f32\[3\] at .*; it must return a list of 2"),
        (lambda outs: [outs[0], np.float32(1)],
         r"a value of type f32\[\] as result 1 at .*; the type rule says f32\[3\]\."),
    ],
)  # fmt: skip
def test_results_of_partial_eval_rules(result: Any, message: str) -> None:
    p = _partial_eval(result)
    with pytest.raises(TypeError, match=message) as e:
        linearize(lambda x: p.bind(x)[0], X)
    assert f"the rule of 'ad.partial_eval' for 'two' ({__name__}:" in str(e.value)


def test_a_number_is_a_tangent_of_a_scalar() -> None:
    p = total("number")
    jvp_rules.register(p, override=True)(lambda primals, tangents: (p.bind(*primals), 2.0))
    assert jvp(p.bind, (X,), (X,))[1] == 2.0
