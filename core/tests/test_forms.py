"""Parameters that another interface gives primitives."""

from __future__ import annotations

import pytest

from dovetail_core import Primitive, get_trace
from dovetail_core.dispatch.forms import accept_parameters, with_parameters
from dovetail_core.rules.evaluation import def_impl


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
