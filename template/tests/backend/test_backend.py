"""The backend: on all samples of all plugins as the reference, and by ``jit``."""

from __future__ import annotations

import dovetail
import dovetail.numpy as dnp
import numpy as np
from dovetail_backends import evaluate
from dovetail_core import lower_to_lo, lower_values, stage_closed
from dovetail_testing import Sample, assert_close, law, matrix

from dovetail_acme import BACKEND


@law("backend", without=("random",))
def agrees_with_the_reference(sample: Sample) -> None:
    """Programs of one operation have the results that NumPy computes for them."""
    program = lower_to_lo(stage_closed(lambda *xs: sample.flat(*xs), sample.avals))
    args = lower_values(sample.args, "asked for by the law of the backend")
    for got, want in zip(BACKEND.compile(program)(args), evaluate(program, *args)):
        assert_close(got, want)


test_operations = matrix(tables=(), laws={"acme": agrees_with_the_reference})


def f(x):
    return dnp.sum(dnp.sin(x) * x)


def test_programs():
    x = np.array([0.5, 1.0], np.float32)
    for g in (f, dovetail.grad(f), dovetail.vmap(lambda y: y + f(y[None]))):
        assert_close(dovetail.jit(g, backend="acme")(x), dovetail.jit(g)(x))


def test_programs_with_loops():
    def g(x):
        return dovetail.lax.fori_loop(0, 5, lambda i, y: y + dnp.cos(y), x)

    x = np.float32(0.5)
    assert_close(dovetail.jit(g, backend="acme")(x), dovetail.jit(g)(x))


def test_derivatives_of_integers():
    def slope(n):
        return dovetail.grad(lambda n: n * 1.0, allow_int=True)(n)

    assert dovetail.jit(slope, backend="acme")(np.int32(3)).dtype == dovetail.float0


def test_it_is_never_the_default():
    assert dovetail.default_backend() != "acme"
