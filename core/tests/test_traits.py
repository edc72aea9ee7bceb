"""Traits of primitives, and the law that tries them."""

from __future__ import annotations

import numpy as np
import pytest

from dovetail_core import Primitive, Traits, def_impl
from dovetail_testing import Sample
from dovetail_testing.trait_laws import trait_law

X = np.array([0.5, -1.5, 2.0], np.float32)
Y = np.array([1.0, 3.0, -0.25], np.float32)


def operation(compute, **traits):
    p = Primitive("test.with_traits", anonymous=True).def_traits(**traits)
    p.def_abstract_eval(lambda *avals, **_: avals[0])
    def_impl(p)(lambda *xs, **params: np.asarray(compute(*xs, **params), np.float32))
    return p


def test_groups_of_operands():
    product = Traits(linear=((0,), (1,)))
    assert product.linear_in([0], 2, {}) == (0,) and product.linear_in([1], 2, {}) == (1,)
    assert product.linear_in([0, 1], 2, {}) is None
    several = Traits(linear=(slice(1, None),))
    assert several.linear_in([2], 4, {}) == (1, 2, 3) and several.linear_in([0], 4, {}) is None
    by_parameter = Traits(linear=lambda params: ((0,),) if params["whole"] else ())
    assert by_parameter.linear_in([0], 1, {"whole": True}) == (0,)
    assert by_parameter.linear_in([0], 1, {"whole": False}) is None


def test_directions():
    assert [Traits(monotone="+-").direction(i) for i in range(3)] == ["+", "-", "-"]
    assert Traits().direction(5) == "."


def test_saying_more_keeps_what_was_said():
    p = operation(np.add, linear=((0, 1),)).def_traits(commutative=True)
    assert p.traits == Traits(linear=((0, 1),), commutative=True)


RIGHT = [
    (np.subtract, {"linear": ((0, 1),), "monotone": "+-", "elementwise": True}),
    (np.multiply, {"linear": ((0,), (1,)), "commutative": True, "elementwise": True}),
    (lambda x, y: np.floor(x), {"constant": (0,), "monotone": "+."}),
    (lambda x, y: np.cumsum(x), {"linear": ((0,),)}),
]
WRONG = [
    (np.multiply, {"linear": ((0, 1),)}, r"it is not linear in operands \(0, 1\)"),
    (lambda x, y: x + 1, {"linear": ((0,),)}, r"it is not linear in operands \(0,\)"),
    (lambda x, y: np.exp(x), {"monotone": "-"}, "it does not go - with operand 0"),
    (np.subtract, {"monotone": "+"}, r"it does not go \+ with operand 1"),
    (np.subtract, {"commutative": True}, "it does not commute"),
    (lambda x, y: np.cumsum(x), {"elementwise": True}, "it is not elementwise"),
    (lambda x, y: np.sin(x), {"constant": (0,)}, "it is not constant around operand 0"),
]


@pytest.mark.parametrize(("compute", "traits"), RIGHT)
def test_the_law_holds_of_what_is_true(compute, traits):
    trait_law(Sample(operation(compute, **traits), (X, Y)))


@pytest.mark.parametrize(("compute", "traits", "message"), WRONG)
def test_the_law_finds_what_is_not(compute, traits, message):
    with pytest.raises(AssertionError, match=message):
        trait_law(Sample(operation(compute, **traits), (X, Y)))


def test_the_law_speaks_of_what_has_traits():
    assert not trait_law.speaks_of(Sample(operation(np.add), (X, Y)))
    assert trait_law.speaks_of(Sample(operation(np.add, commutative=True), (X, Y)))


def test_traits_that_there_are_not_are_named() -> None:
    with pytest.raises(TypeError, match="there are no traits linaer"):
        operation(np.add, linaer=((0, 1),))
    p = operation(np.add, linear=((0, 1),)).def_traits(commutative=True)
    assert p.traits == Traits(linear=((0, 1),), commutative=True)
    assert not Traits().commutative
