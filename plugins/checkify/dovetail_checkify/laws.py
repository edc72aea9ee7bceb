"""The law of checks: they change no result, and fail alike in compiled and eager code."""

from __future__ import annotations

import numpy as np

from dovetail_core import ClosedJaxpr, MissingRule, is_inexact, stage_closed
from dovetail_jit import jit
from dovetail_testing import Sample, assert_close, law
from dovetail_testing.kernel_laws import arrays_of

from .errors import DivisionByZeroError, Error, NaNError, OOBError, all_checks
from .functionalize import run_checked


@law("checks", without={"random", "effect"}, mixed=False)
def checks_law(sample: Sample) -> None:
    """Results are those of the operation alone; a failure is of a requested kind and the same in
    compiled code, and there is a nan if one is reported."""
    program = stage_closed(sample.flat, sample.avals)
    error, outs = run_checked(program, sample.args, all_checks)
    alone = sample.flat(*sample.args)
    for got, want in zip(arrays_of(outs), arrays_of(alone), strict=True):
        assert_close(got, want, "with checks", factor=256, scale=sample.scale)
    again = _compiled(program, sample) or error
    assert error.get() == again.get(), f"{error!r} evaluated, {again!r} compiled"
    if isinstance(error.get_exception(), NaNError):
        assert any(map(_has_nan, arrays_of(alone))), f"{error!r}, and no result is nan"
    _assert_known(error)


def _compiled(program: ClosedJaxpr, sample: Sample) -> Error | None:
    try:
        return jit(lambda *xs: run_checked(program, xs, all_checks))(*sample.args)[0]
    except MissingRule:  # it runs elsewhere
        return None


def _has_nan(x: object) -> bool:
    array = np.asarray(x)
    return bool(is_inexact(array.dtype) and (array != array).any())


def _assert_known(error: Error) -> None:
    kinds = (NaNError, DivisionByZeroError, OOBError)
    failure = error.get_exception()
    assert failure is None or isinstance(failure, kinds), repr(failure)
