"""Parameters that another interface gives primitives."""

from __future__ import annotations

import pytest

from dovetail_core import Primitive, ShapedArray, get_trace, stage_closed
from dovetail_core.rules.evaluation import def_impl
from dovetail_surface.parameters import Derived, accept_parameters, show_parameters, with_parameters


def _shift() -> Primitive:
    shift = Primitive("test.shift", unlisted=True)
    def_impl(shift)(lambda x, *, by: x + by)
    return shift


def test_parameters_that_say_nothing_are_dropped() -> None:
    shift = _shift()
    accept_parameters(shift, sharding=None, exact=True)
    assert shift.bind(1, by=2) == shift.bind(1, by=2, sharding=None, exact=True) == 3
    assert shift.bind_with_trace(get_trace(), (1,), {"by": 2, "sharding": None}) == 3
    assert with_parameters(shift, {"by": 2}) == {"by": 2, "sharding": None, "exact": True}
    with pytest.raises(TypeError, match="exact"):
        shift.bind(1, by=2, exact=False)


def test_others_have_their_own_parameters_alone() -> None:
    assert with_parameters(_shift(), {"by": 2}) == {"by": 2}


def test_equations_show_further_parameters() -> None:
    shift = _shift()
    shift.def_abstract_eval(lambda x, *, by: x)
    show_parameters(shift, exact=True, twice=Derived(lambda params: 2 * params["by"]))
    program = stage_closed(lambda x: [shift.bind(x, by=2, twice=4)], [ShapedArray((), "float32")])
    params = program.eqns[0].params
    assert dict(params) == {**params} == {"by": 2} == params
    assert params["exact"] is True and params["twice"] == params.get("twice") == 4
    assert "exact" in params and "by" in params and "other" not in params
    assert params.get("other") is None and params.get("by") == 2
    with pytest.raises(KeyError, match="other"):
        params["other"]
    assert with_parameters(shift, params) == {"by": 2, "exact": True, "twice": 4}
    assert shift.bind(1, **with_parameters(shift, params)) == shift.bind(1, **params) == 3
    with pytest.raises(TypeError, match="twice"):
        shift.bind(1, by=2, twice=5)
