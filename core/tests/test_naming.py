"""Names of scopes, and what they show of transformations."""

import pytest

from dovetail_base.naming import beyond, inside, moved, parts, transformed
from dovetail_base.source_info import NameStack


def test_the_first_name_goes_into_the_transformations_around_it():
    scope = transformed(transformed("outer", "transpose"), "jvp")
    assert scope == "outer/transpose(jvp())"
    assert inside(scope, "model") == "outer/transpose(jvp(model))"
    assert inside(inside(scope, "model"), "layer") == "outer/transpose(jvp(model))/layer"
    assert inside("", "model") == "model" and transformed("", "vmap") == "vmap()"


@pytest.mark.parametrize("outer", ["", "a", "a/b", "vmap()", "a/vmap(jvp())", "jvp(a)/b"])
@pytest.mark.parametrize("names", ["x", "x/y", "jvp()", "jvp(x)/y"])
def test_a_scope_is_seen_from_within_and_put_back(outer, names):
    first, *rest = parts(names)
    scope = "/".join([inside(outer, first), *rest])
    assert beyond(scope, outer) == names
    assert moved(names, "", outer) == scope
    assert moved(scope, outer, "z") == f"z/{names}"


def test_what_is_elsewhere_stays_as_it_is():
    assert beyond("model/layer", "mod") == "model/layer" == beyond("model/layer", "vmap()")
    assert moved("outer", "outer", "outer/transpose()") == "outer/transpose()"


def test_a_stack_has_transformations_and_scopes_one_by_one():
    stack = NameStack.of("outer/transpose(jvp(model))/layer")
    assert [s.name for s in stack.stack] == ["outer", "transpose", "jvp", "model", "layer"]
    assert str(stack) == "outer/transpose(jvp(model))/layer"
    assert str(NameStack().transform("vmap")) == "vmap()"
    assert str(NameStack().transform("vmap").extend("f").extend("g")) == "vmap(f)/g"
