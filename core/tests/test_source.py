"""Source locations: the user's line behind an operation; scopes; where things are registered."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from dovetail_base import source as source_module
from dovetail_base.source import named_call
from dovetail_core import (
    ShapedArray,
    current_source,
    describe_source,
    hide_frames,
    jaxpr_as_fun,
    named_scope,
    reset_source_override,
    set_source_override,
    stage_closed,
)
from dovetail_testing.toy import sin_p

F32 = ShapedArray((), np.float32)


def _line() -> int:
    return inspect.currentframe().f_back.f_lineno


def test_an_operation_knows_the_users_line():
    def f(x):
        f.line = _line() + 1
        return [sin_p.bind(x)]

    result = stage_closed(f, [F32]).eqns[0].source
    assert (result.filename, result.line) == (__file__, f.line)
    assert str(result).endswith(f"test_source.py:{f.line} ({f.__qualname__})")
    assert describe_source(result) == f" at {result}" and describe_source(None) == ""


def test_lines_within_one_long_statement_are_told_apart():
    def f(x):
        return [
            sin_p.bind(x),
            sin_p.bind(x),
        ]

    first, second = (e.source.line for e in stage_closed(f, [F32]).eqns)
    assert second == first + 1


def test_equations_of_an_evaluated_program_keep_their_lines():
    inner = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    outer = stage_closed(jaxpr_as_fun(inner), [F32])
    assert outer.eqns[0].source is inner.eqns[0].source


def test_an_enclosing_equation_wins_over_those_of_an_inlined_program():
    inner = stage_closed(lambda x: [sin_p.bind(x)], [F32])
    here = current_source()
    token = set_source_override(here)
    try:
        outer = stage_closed(jaxpr_as_fun(inner), [F32])
    finally:
        reset_source_override(token)
    assert outer.eqns[0].source is here is not inner.eqns[0].source


def test_packages_can_be_hidden():
    frame = {"__name__": "acme_helpers.inner", "sin_p": sin_p}
    exec(compile("def helper(x):\n    return [sin_p.bind(x)]", "<acme>", "exec"), frame)
    assert stage_closed(frame["helper"], [F32]).eqns[0].source.filename == "<acme>"
    hide_frames("acme_helpers")
    try:
        result = stage_closed(lambda x: frame["helper"](x), [F32]).eqns[0].source
        assert result.filename == __file__
    finally:
        source_module._hidden_packages.discard("acme_helpers")


def test_files_can_be_hidden():
    assert source_module.current_source().filename == __file__
    source_module.hide_files(__file__)
    try:
        result = source_module.current_source()
        assert result is None or result.filename != __file__
        source_module.hide_files(__file__[:-3])
    finally:
        source_module.show_files(__file__)
        source_module.show_files(__file__[:-3])
    assert source_module.current_source().filename == __file__


def test_code_from_a_string_is_judged_by_its_module():
    hidden = {"__name__": "dovetail_acme", "at": current_source}
    shown = {"__name__": "user", "at": current_source}
    for globals_ in (hidden, shown):
        exec(compile("def f(): return at()", "<string>", "exec"), globals_)
    assert hidden["f"]().filename == __file__
    assert shown["f"]().filename == "<string>"


def test_scopes_name_operations_and_nest():
    with named_scope("outer"), named_scope("inner"):
        assert current_source().scope == "outer/inner"
        place = f"({test_scopes_name_operations_and_nest.__name__}) in scope 'outer/inner'"
        assert str(current_source()).endswith(place)
    assert current_source().scope == ""
    again = named_scope("again")
    with again, again:
        assert current_source().scope == "again/again"
    assert current_source().scope == "" and again(lambda: current_source().scope)() == "again"
    with pytest.raises(TypeError, match="named_scope takes a string, got 3"):
        named_scope(3)


def test_a_named_call_is_in_its_scope():
    def inner():
        return current_source().scope

    assert named_call(inner)() == "inner" and named_call(inner, name="other")() == "other"
    with pytest.raises(TypeError, match="fun must be a function, got 3"):
        named_call(3)
    with pytest.raises(TypeError, match="named_scope takes a string, got 3"):
        named_call(inner, name=3)


def test_registrations_are_placed_in_the_module_that_is_imported(site):
    site.module("place_helper", "from dovetail_base.source import registration_location as here\n")
    site.module(
        "place_user",
        "from place_helper import here\n\ndef through():\n    return here()\n\nAT = through()\n",
    )
    import place_helper
    import place_user

    assert place_user.AT == ("place_user", 6)
    assert place_helper.here() == (__name__, _line())


def test_a_place_in_a_backward_pass_is_the_same_place() -> None:
    place = current_source()
    assert place is not None
    back = source_module.backward(place, "", "")
    assert isinstance(back, source_module.BackwardSource) and back == place
    assert str(back) == str(place)
    assert source_module.backward(None, "", "") is None
    with named_scope("outer"), named_scope("inner"):
        place = current_source()
    back = source_module.backward(place, "outer", "outer/transpose()")
    assert back is not None and back.scope == "outer/transpose(inner)"
