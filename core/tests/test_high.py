"""High types and operations, and their lowering, in a kernel without plugins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from dovetail_core import (
    HiType,
    MissingMethod,
    Primitive,
    ShapedArray,
    check_jaxpr,
    eval_rules,
    jaxpr_as_fun,
    leading_size,
    low_types,
    lower_to_lo,
    lower_values,
    raise_values,
    register_hitype,
    stage_closed,
    to_lo_rules,
    typeof,
    with_leading,
    without_leading,
)

F32 = ShapedArray((2,), np.float32)
XS = np.array([1.0, 2.0], np.float32)


@dataclass(frozen=True)
class PairType(HiType):
    shape: tuple[int, ...]

    def lo_ty(self):
        return [ShapedArray(self.shape, np.float32)] * 2

    def lower_val(self, value):
        return [value.a, value.b]

    def raise_val(self, *arrays):
        return Pair(*arrays)

    def mapped(self, size, spec):
        assert self.shape[spec] == size
        return PairType(self.shape[:spec] + self.shape[spec + 1 :])

    def unmapped(self, size, spec):
        return PairType((*self.shape[:spec], size, *self.shape[spec:]))

    def str_short(self):
        return f"pair{list(self.shape)}"


@dataclass(frozen=True, eq=False)
class Pair:
    a: Any
    b: Any


register_hitype(Pair, lambda p: PairType(typeof(p.a).shape))

twice_p = Primitive("high_test.twice")
twice_p.def_abstract_eval(lambda x: x)
eval_rules.register(twice_p)(lambda x: 2 * x)

make_p = Primitive("high_test.make")
make_p.is_high = lambda: True
make_p.def_abstract_eval(lambda a, b: PairType(a.shape))
to_lo_rules.register(make_p)(Pair)

swap_p = Primitive("high_test.swap")
swap_p.is_high = lambda *, wrong=None: True
swap_p.def_abstract_eval(lambda p, *, wrong=None: p)


@to_lo_rules.register(swap_p)
def _swap(p, *, wrong=None):
    if wrong == "type":
        return twice_p.bind(p.a)
    return make_p.bind(twice_p.bind(p.b), p.a)  # a rule may use high operations


def program():
    return stage_closed(lambda p, x: [swap_p.bind(p), make_p.bind(x, x), x], [PairType((2,)), F32])


def test_high_operations_are_evaluated_by_their_rule():
    result = swap_p.bind(Pair(XS, 3 * XS))
    np.testing.assert_array_equal(result.a, 6 * XS)
    np.testing.assert_array_equal(result.b, XS)


def test_staging_records_the_high_operation():
    ir = program()
    assert ir.is_high and [e.primitive for e in ir.eqns] == [swap_p, make_p]
    check_jaxpr(ir)


def test_lowering_replaces_values_by_their_arrays_in_place():
    ir = program()
    low = lower_to_lo(ir)
    check_jaxpr(low)
    assert not low.is_high and low is lower_to_lo(ir)
    assert low.in_avals == low_types(ir.in_avals) == [F32] * 3
    assert low.out_avals == low_types(ir.out_avals) == [F32] * 5
    assert [e.primitive for e in low.eqns] == [twice_p]
    result = jaxpr_as_fun(low)(XS, 3 * XS, 5 * XS)
    swapped, made, x = raise_values(result, ir.out_avals)
    np.testing.assert_array_equal(swapped.a, 6 * XS)
    np.testing.assert_array_equal(made.b, 5 * XS)
    assert x is result[4]
    assert lower_to_lo(low) is low


def test_constants_of_high_types():
    pair = Pair(XS, 3 * XS)
    ir = stage_closed(lambda x: [swap_p.bind(pair)], [F32])
    assert ir.is_high and ir.consts == [pair]
    np.testing.assert_array_equal(jaxpr_as_fun(lower_to_lo(ir))(XS)[0], 6 * XS)


def test_values_at_the_boundary():
    assert lower_values([Pair(1.0, 2.0), 3], "to test")[2] == 3
    with pytest.raises(
        TypeError,
        match=r"PairType.lower_val, to test, returned arrays of types \(f32\[2\], i32\[\]~\), but "
        r"PairType.lo_ty says \(f32\[2\], f32\[2\]\) of pair\[2\]",
    ):
        lower_values([Pair(XS, 1)], "to test")


def test_a_rule_that_disagrees_with_its_type_rule():
    message = (
        r"the rule of 'to_lo' for 'high_test.swap' \(.*\) returned a value of type f32\[2\] as "
        r"result 0 at .*test_high.py.*; the type rule says pair\[2\]"
    )
    with pytest.raises(TypeError, match=message):
        swap_p.bind(Pair(XS, XS), wrong="type")


def test_leading_axes():
    assert with_leading(PairType((2,)), 3) == PairType((3, 2))
    assert without_leading(PairType((3, 2))) == PairType((2,))
    assert leading_size(PairType((3, 2))) == 3 == leading_size(ShapedArray((3,), np.float32))
    assert leading_size(ShapedArray((), np.float32)) is None
    assert with_leading(F32, 4).shape == (4, 2) and without_leading(F32).shape == ()
    assert PairType((3, 2)).lo_axes([1, None]) == [1, None]
    assert PairType((3, 2)).lo_axes(-1) == [1, 1]
    with pytest.raises(
        TypeError, match=r"'x' names no axis of pair\[3, 2\].*2 arrays \(f32\[3,2\]"
    ):
        PairType((3, 2)).lo_axes("x")
    with pytest.raises(ValueError, match=r"the axis \[0, 1\] of pair\[3, 2\] has 2 lengths"):
        PairType((3, 2)).axis_size([0, 1])


METHODS = {
    "lo_ty": (lambda t: t.lo_ty(), "to know the arrays that a value is made of"),
    "lower_val": (lambda t: t.lower_val(None), "to take a value apart into arrays"),
    "raise_val": (lambda t: t.raise_val(), "to make a value from its arrays"),
    "tangent_type": (lambda t: t.tangent_type(), "to differentiate with respect to a value"),
    "mapped": (lambda t: t.mapped(1, 0), "to map an axis over a value"),
    "unmapped": (lambda t: t.unmapped(1, 0), "to stack values along an axis"),
}


@pytest.mark.parametrize("name", METHODS)
def test_a_missing_method_is_named(name):
    class Bare(HiType):
        pass

    call, purpose = METHODS[name]
    message = (
        rf"Bare \(.*test_high\) has no method {name}, which is needed {purpose}.*Define Bare\."
    )
    with pytest.raises(MissingMethod, match=message):
        call(Bare())


def test_names_of_methods_as_jax_has_them():
    class Theirs(HiType):
        def to_tangent_aval(self):
            return "tangent"

        def vspace_zero(self):
            return "zero"

        def dec_rank(self, size, spec):
            return "element"

    t = Theirs()
    assert (t.tangent_type(), t.make_zero(), t.mapped(1, 0)) == ("tangent", "zero", "element")


def test_programs_inside_of_parameters_are_high():
    p = Primitive("high_test.call", multiple_results=True)
    p.def_regions(lambda params: None)
    inner, low = program(), stage_closed(lambda x: [x], [F32])
    assert p.holds_high({"program": inner, "flags": (True, False)})
    assert p.holds_high({"branches": (low, inner)})
    assert not p.holds_high({"program": low, "branches": (low, low), "n": 3})


def test_an_operation_on_arrays_says_that_the_value_is_none():
    class Bare(HiType):
        pass

    message = (
        "operation on arrays asks for the dtype of a value of the high type Bare at .*test_high"
    )
    with pytest.raises(AttributeError, match=message):
        Bare().dtype  # noqa: B018
    with pytest.raises(AttributeError, match="'Bare' object has no attribute 'nonsense'"):
        Bare().nonsense  # noqa: B018
    assert not hasattr(Bare(), "shape") and PairType((2,)).shape == (2,)
