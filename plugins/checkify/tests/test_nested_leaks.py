"""Checks of nested programs under the option that looks for leaked tracers."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_base.options import check_tracer_leaks
from dovetail_batching import vmap
from dovetail_checkify import automatic_checks, check, checkify, user_checks
from dovetail_core import UnexpectedTracerError
from dovetail_jit import jit


def test_what_is_threaded_through_regions_is_kept_nowhere():
    @jit
    def log(x):
        check(x > 0, "not positive: {x}", x=x)
        return lax.log(x)

    @jit
    def twice(x):
        return log(x) + lax.cond(x > 1, log, lambda x: x, x)

    with check_tracer_leaks(True):
        error, value = checkify(twice)(np.float32(1.0))
    assert error.get() is None and value == 1.0
    with check_tracer_leaks(True):
        error, _ = checkify(twice)(np.float32(-1.0))
    assert "not positive: -1.0" in error.get()


def test_checks_of_rules_are_kept_nowhere():
    def f(x, i):
        y = dnp.sin(x) / x
        check(dnp.all(y < 2), "{y} is too large", y=y)
        return lax.cond(x[0] > 0, lambda: y[i], lambda: dnp.log(y[0]))

    x = np.arange(1, 4, dtype=np.float32)
    forms = {
        "evaluated": checkify(f, automatic_checks | user_checks),
        "of a jitted function": checkify(jit(f), automatic_checks | user_checks),
        "compiled": jit(checkify(f, automatic_checks | user_checks)),
        "mapped": checkify(lambda x, i: vmap(f, (None, 0))(x, i[None]), automatic_checks),
        "differentiated": checkify(grad(f), automatic_checks),
    }
    for name, g in forms.items():
        with check_tracer_leaks(True):
            assert g(x, np.int32(1))[0].get() is None, name
        with check_tracer_leaks(True):
            error, _ = g(x, np.int32(3))
        assert "index 3 is out of bounds" in error.get(), name


def test_a_leak_of_the_users_function_is_found():
    kept = []

    def f(x):
        kept.append(dnp.sin(x))
        return kept[0] / x

    with check_tracer_leaks(True), pytest.raises(UnexpectedTracerError, match="is kept after"):
        checkify(jit(f), automatic_checks)(np.float32(1.0))
