"""Running and differentiating by the NumPy reference backend, which need not compile."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dovetail_ad import jacfwd, jacrev
from dovetail_backends import evaluate
from dovetail_jit import jit, make_jaxpr
from dovetail_tree.util import tree_leaves, tree_structure, tree_unflatten

FULL = os.environ.get("DOVETAIL_TEST_FULL") == "1"


def run(f: Any, *args: Any) -> Any:
    """The result of ``f`` by the NumPy reference backend, which need not compile."""
    return program_of(f, *args)(*args)


def program_of(f: Any, *args: Any) -> Any:
    """``f`` traced once, as a function of arguments like these, run by the reference backend."""
    program, shapes = make_jaxpr(f, return_shape=True)(*args)

    def evaluated(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return tree_unflatten(tree_structure(shapes), evaluate(program, *tree_leaves(args)))

    return evaluated


def program(f: Any, *args: Any) -> Any:
    """``f`` as a function of arguments like these: compiled by XLA where everything is tested,
    and run by the reference backend where values alone are of interest."""
    return jit(f) if FULL else program_of(f, *args)


def value_of(f: Any, *args: Any) -> Any:
    """The result of ``f`` by its :func:`program`."""
    return program(f, *args)(*args)


def check_grads(f: Any, args: Any, order: int = 2) -> None:
    """Derivatives, reverse and then forward over reverse, against central differences."""
    if order == 0:
        return
    value = program_of(f, *args)
    for i, x in enumerate(args):
        slope = jacrev(f, i) if order == 2 else jacfwd(f, i)
        result, h = run(slope, *args), 1e-6
        for index in np.ndindex(np.shape(x)):
            step = np.zeros(np.shape(x))
            step[index] = h
            ends = [value(*args[:i], x + s * step, *args[i + 1 :]) for s in (1, -1)]
            want = (np.asarray(ends[0]) - np.asarray(ends[1])) / (2 * h)
            np.testing.assert_allclose(
                np.asarray(result)[(..., *index)], want, rtol=1e-5, atol=1e-6
            )
        if order == 2:
            check_grads(slope, args, 1)
