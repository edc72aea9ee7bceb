"""Checks of nested programs under the option that looks for leaked tracers."""

from __future__ import annotations

import numpy as np

import dovetail_lax as lax
from dovetail_checkify import check, checkify
from dovetail_core.base.options import check_tracer_leaks
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
