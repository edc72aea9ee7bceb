"""Primitives: names, type rules and what is remembered of them, regions, errors."""

from __future__ import annotations

from importlib import import_module

import numpy as np
import pytest

from dovetail_core import (
    IOEffect,
    MissingRule,
    Primitive,
    RegionInterface,
    RegistryError,
    ShapedArray,
    primitives,
)
from dovetail_testing.toy import add_p, sin_p

F32 = ShapedArray((3,), np.float32)


def test_primitives_are_found_by_name_and_print_as_it():
    assert primitives()["toy.sin"] is sin_p and repr(sin_p) == "toy.sin"
    primitives().clear()
    assert "toy.sin" in primitives()


def test_a_primitive_knows_the_module_that_defines_it():
    assert sin_p.module == "dovetail_testing.toy"
    assert Primitive("test.here").module == __name__


def test_two_modules_cannot_define_one_name():
    Primitive("test.twice")
    Primitive("test.twice")  # the same module again: a reload
    code = "from dovetail_core import Primitive\nPrimitive('test.twice')"
    with pytest.raises(RegistryError) as e:
        exec(code, {"__name__": "rival"})
    assert str(e.value).startswith(f"primitive 'test.twice' is defined by {__name__} and by rival")
    assert "prefix names with their package's: 'acme.square'" in str(e.value)


def test_a_name_that_a_users_module_took_first_is_that_of_the_plugin(site):
    site.plugin("acme", "primitives=('acme_primitives',)")
    site.module(
        "acme_primitives", "from dovetail_core import Primitive\np = Primitive('acme.cube')\n"
    )
    mine = Primitive("acme.cube")
    assert primitives()["acme.cube"] is mine
    with pytest.warns(RuntimeWarning, match=f"'acme.cube' is defined by {__name__} and by acme_pr"):
        theirs = import_module("acme_primitives").p
    assert primitives()["acme.cube"] is theirs
    with pytest.raises(RegistryError, match="Rename one of them"):
        Primitive("acme.cube")


def test_anonymous_primitives_have_no_entry():
    Primitive("test.anonymous", anonymous=True)
    assert "test.anonymous" not in primitives()


def test_type_rules_run_once_per_types_and_parameters():
    p, calls = Primitive("test.memo"), []

    @p.def_abstract_eval
    def _rule(x, *, n=0):
        calls.append((x, n))
        return x

    for _ in range(3):
        assert p.infer((F32,), {}).avals == (F32,)
        p.infer((F32,), {"n": 1})
    assert calls == [(F32, 0), (F32, 1)]
    p.forget()
    p.infer((F32,), {})
    assert len(calls) == 3


def test_unhashable_parameters_are_inferred_anew_each_time():
    p, calls = Primitive("test.unhashable"), []

    @p.def_abstract_eval
    def _rule(x, *, ns):
        calls.append(ns)
        return x

    for ns in (np.ones(1), (np.dtype(np.int8), [1]), (np.dtype(np.int8), np.ones(1))):
        calls.clear()
        p.infer((F32,), {"ns": ns})
        p.infer((F32,), {"ns": ns})
        assert calls == [ns, ns]


def test_types_of_rows_with_sub_programs_are_not_remembered():
    p = Primitive("test.nested", multiple_results=True)
    p.def_abstract_eval(lambda x, program: [x])
    p.def_regions(lambda params: RegionInterface((), lambda *a: {}))
    p.infer((F32,), {"program": "anything"})
    assert not p._memo


def test_errors_of_type_rules_come_alone():
    with pytest.raises(TypeError, match=r"toy\.add takes operands of one dtype") as e:
        add_p.infer((F32, ShapedArray((2,), np.float32)), {})
    assert e.value.__context__ is None


def test_rules_with_effects():
    p = Primitive("test.effectful")
    p.def_effectful_abstract_eval(lambda x: (x, {IOEffect()}))
    assert p.infer((F32,), {}).effects == {IOEffect()}


def test_a_row_is_high_by_its_types_or_its_own_word():
    class High(type(F32).__base__):
        is_high = True

    p = Primitive("test.high")
    p.def_abstract_eval(lambda x, **params: x)
    assert p.infer((High(),), {}).is_high and not p.infer((F32,), {}).is_high
    p.is_high = lambda *, deep=False: deep
    assert p.infer((F32,), {"deep": True}).is_high


def test_an_error_without_a_type_rule():
    with pytest.raises(MissingRule) as e:
        Primitive("test.no.rule").infer((F32,), {})
    head, place = str(e.value).split(" at ")
    assert head == (f"primitive 'test.no.rule' ({__name__}) has no type rule, which is asked for")
    assert place.startswith(__file__)
    assert place.endswith(
        "(test_an_error_without_a_type_rule). Define one with @rule_p.def_abstract_eval."
    )


def test_regions_need_a_list_of_results():
    with pytest.raises(RegistryError, match=r"'test.single' has regions and so a list of results"):
        Primitive("test.single").def_regions(lambda params: None)


def test_bind_evaluates_at_rest():
    assert add_p.bind(np.float32(1), 2.0) == 3


def test_no_primitive_is_a_call_of_a_function_among_its_operands():
    made = Primitive("test.plain", unlisted=True)
    assert (made.call_primitive, made.map_primitive) == (False, False)
