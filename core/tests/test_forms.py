"""Applications of primitives in another interface's form."""

from __future__ import annotations

from typing import Any

import pytest

from dovetail_core import Primitive, get_trace
from dovetail_core.dispatch.forms import accept_form, accept_parameters, other_form
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
    assert other_form(shift, (1,), {"by": 2}) == ((1,), {"by": 2, "sharding": None, "exact": True})
    with pytest.raises(TypeError, match=r"shift takes no exact but True.*Leave it out"):
        shift.bind(1, by=2, exact=False)


def test_a_form_has_other_operands_and_parameters() -> None:
    shift = _shift()

    def read(args: tuple[Any, ...], params: dict[str, Any]) -> Any:
        return (args, params) if "by" in params else (args[:1], {"by": args[1]})

    accept_form(shift, read, lambda args, params: ((*args, params["by"]), {}))
    assert shift.bind(1, by=2) == shift.bind(1, 2, other=True) == 3
    assert other_form(shift, (1,), {"by": 2}) == ((1, 2), {})


def test_others_have_one_form() -> None:
    assert other_form(_shift(), (1,), {"by": 2}) == ((1,), {"by": 2})
