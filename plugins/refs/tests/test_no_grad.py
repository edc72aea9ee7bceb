"""References of the kind ``no_grad_no_remat``: statistics of what is differentiated."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax, ref as dref
from dovetail_core import parse_ir, parse_type, print_ir

KIND = "no_grad_no_remat"
KINK = np.cos(np.sin(3.0)) * np.cos(3.0)  # the derivative of sin(sin(x)) at 3


def new(x: Any) -> Any:
    return dovetail.new_ref(x, kind=KIND)


def of_set(x: Any, ref: Any) -> Any:
    ref[...] = x * 2
    return dnp.sin(dnp.sin(x))


def of_addition(x: Any, ref: Any) -> Any:
    dref.addupdate(ref, ..., x * 2)
    return dnp.sin(dnp.sin(x))


def of_swap(x: Any, ref: Any) -> Any:
    old = dref.swap(ref, ..., x * 2)
    return dnp.sin(dnp.sin(x)) + old


def of_reading_it_back(x: Any, ref: Any) -> Any:
    ref[...] += x * 2
    return dnp.sin(dnp.sin(x)) + ref[...]


WRITES = [of_set, of_addition, of_swap, of_reading_it_back]


@pytest.mark.parametrize("f", WRITES, ids=lambda f: f.__name__)
def test_values_that_are_differentiated_are_written_once(wide: None, f: Any) -> None:
    orders: list[Callable[..., Any]] = [
        dovetail.grad(f),
        dovetail.jit(dovetail.grad(f)),
        dovetail.grad(dovetail.jit(f)),
        dovetail.grad(dovetail.checkpoint(f)),
        dovetail.jit(dovetail.grad(dovetail.checkpoint(f))),
        lambda x, ref: dovetail.jvp(lambda x: f(x, ref), (x,), (1.0,))[1],
        lambda x, ref: dovetail.grad(lambda x: f(x, ref))(x),
        lambda x, ref: dovetail.grad(lambda x: lax.cond(x > 0, f, lambda x, r: x, x, ref))(x),
    ]
    for g in orders:
        ref = new(0.0)
        np.testing.assert_allclose(g(3.0, ref), KINK, rtol=1e-12)
        assert ref[...] == 6.0


def test_mapped_and_scanned(wide: None) -> None:
    xs, refs = np.linspace(0.0, 1.0, 3), new(np.zeros(3))
    result = dovetail.vmap(dovetail.grad(of_set))(xs, refs)
    np.testing.assert_allclose(result, np.cos(np.sin(xs)) * np.cos(xs), rtol=1e-12)
    np.testing.assert_allclose(refs[...], xs * 2, rtol=1e-12)
    result = dovetail.grad(lambda x: dovetail.vmap(of_addition)(x, refs).sum())(xs)
    np.testing.assert_allclose(refs[...], xs * 4, rtol=1e-12)

    def total(x: Any, refs: Any) -> Any:
        body = dovetail.checkpoint(lambda c, ref: (of_set(c, ref), None))
        return lax.scan(body, x, refs)[0]

    for run in (dovetail.grad(total), dovetail.jit(dovetail.grad(total))):
        refs[...] = 0.0
        x, slope, want = 3.0, 1.0, []
        for _ in range(3):
            want.append(2 * x)
            slope, x = slope * np.cos(np.sin(x)) * np.cos(x), np.sin(np.sin(x))
        np.testing.assert_allclose(run(3.0, refs), slope, rtol=1e-12)
        np.testing.assert_allclose(refs[...], want, rtol=1e-12)


def test_one_that_is_made_inside_has_no_part_in_the_derivative(wide: None) -> None:
    def f(x: Any) -> Any:
        ref = new(x)
        ref[...] = ref[...] * x
        return ref[...] + x

    for g in (f, dovetail.jit(f), dovetail.checkpoint(f)):
        assert g(3.0) == 12.0 and dovetail.grad(g)(3.0) == 1.0
        assert dovetail.jvp(g, (3.0,), (1.0,)) == (12.0, 1.0)
        np.testing.assert_array_equal(dovetail.vmap(dovetail.grad(g))(np.ones(2)), [1.0, 1.0])


def test_the_kind_is_part_of_the_type() -> None:
    ref = new(dnp.ones(3))
    aval = dovetail.typeof(ref)
    assert aval.kind == KIND and aval is not dovetail.typeof(dovetail.new_ref(dnp.ones(3)))
    assert (
        aval.str_short() == "Ref{f32[3] no_grad_no_remat}" and parse_type(aval.str_short()) is aval
    )
    assert pickle.loads(pickle.dumps(aval)) is aval and aval.update(shape=(2,)).kind == KIND
    assert dovetail.typeof(copy.deepcopy(ref)) is aval
    program = dovetail.make_jaxpr(lambda x, r: r.__setitem__(..., new(x)[...]))(dnp.ones(3), ref)
    assert parse_ir(print_ir(program)) == program
