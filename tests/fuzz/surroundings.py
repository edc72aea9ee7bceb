"""Transformations by what is around a function: contexts, options and passes that come and go.

Each is right only if nothing that was derived under other surroundings is used again.
"""

from __future__ import annotations

import sys
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from types import ModuleType

import numpy as np

import dovetail
import dovetail.numpy as dnp
from dovetail_core import Manifest, Pass, jaxpr_as_fun, stage_closed
from dovetail_lax import neg_p
from dovetail_testing.fresh import with_plugins

from .laws import agree, inexact
from .transformations import Transformation

SCALE = dovetail.make_user_context(1.0)


def scaled_by_context(x, how):
    """``x`` times the context, by a function that reads it in its rules, too."""
    if how == "plain":
        return x * dnp.asarray(SCALE.value, x.dtype)
    factor = lambda: dnp.asarray(SCALE.value, x.dtype)  # noqa: E731
    if how == "custom_jvp":
        f = dovetail.custom_jvp(lambda x: x * factor())
        f.defjvp(lambda xs, ts: (xs[0] * factor(), ts[0] * factor()))
        return f(x)
    f = dovetail.custom_vjp(lambda x: x * factor())
    f.defvjp(lambda x: (x * factor(), None), lambda _, ct: (ct * factor(),))
    return f(x)


@dataclass
class contexts(Transformation):
    """The function times a user context; whatever is above it is tried under several values."""

    how: str
    around: str

    def apply(self, f):
        def scaled(*xs):
            ys = map(dnp.asarray, f(*xs))
            return tuple([scaled_by_context(y, self.how) if inexact(y) else y for y in ys])

        wrap = {"jit": dovetail.jit, "checkpoint": dovetail.checkpoint, "": lambda f: f}
        return wrap[self.around](scaled)

    def check(self, evaluate, known, f, g, args):
        want = [np.asarray(y) for y in known(f)(*args)]
        scaled = [(y * SCALE.value).astype(y.dtype) if inexact(y) else y for y in want]
        agree(evaluate(g)(*args), scaled, f"under the context {SCALE.value}")


def check_under_contexts(stack, law, *args):
    """Check a law, where the function reads a context under one value after another."""
    for value in (1.0, 3.0, 1.0) if any(type(t) is contexts for t in stack) else (1.0,):
        with SCALE(value):
            law.check(*args)


@dataclass
class options(Transformation):
    """The function by a program that was first made under other options."""

    def apply(self, f):
        inner = dovetail.jit(f)

        def g(*xs):
            with (
                dovetail.default_matmul_precision("bfloat16"),
                dovetail.threefry_partitionable(False),
            ):
                inner(*xs)
            return inner(*xs)

        return g


def negated(program):
    """The program with each result of a type that has derivatives negated."""

    def body(*xs):
        outs = jaxpr_as_fun(program)(*xs)
        return [neg_p.bind(y) if inexact(y) else y for y in outs]

    return stage_closed(body, tuple(program.in_avals), "negated")


@contextmanager
def pass_that_negates():
    """A context in which a plugin is there that has compiled programs negate their results."""
    module = sys.modules["negating"] = ModuleType("negating")
    module.PASS = Pass("negate", "ir", negated, platforms=("cpu",))
    with with_plugins(Manifest("negating", passes={"negate": "negating:PASS"})):
        yield


@dataclass
class passes(Transformation):
    """A pass that negates results is there at the second of three calls of a compiled function."""

    def apply(self, f):
        return f

    def check(self, evaluate, known, f, g, args):
        want = [np.asarray(y) for y in known(f)(*args)]
        run = dovetail.jit(g, compiler_options=QUICK)
        for there in (False, True, False):
            with pass_that_negates() if there else nullcontext():
                result = run(*args)
            signed = [-y if there and inexact(y) else y for y in want]
            agree(result, signed, f"with a pass: {there}", 10)


QUICK = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
"""Options by which XLA compiles quickly."""
ALL = {contexts: 2, options: 1, passes: 0.3}
