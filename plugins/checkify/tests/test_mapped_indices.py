"""Indices out of bounds that are mapped: found as in a loop over the examples, in every order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import dovetail
import dovetail.numpy as dnp
from dovetail import lax
from dovetail.experimental.checkify import checkify, index_checks

f32 = np.float32
X = np.arange(1, 4, dtype=f32)
M = np.arange(12, dtype=f32).reshape(3, 4)
Read = Callable[[Any, Any], Any]

DN = lax.ScatterDimensionNumbers((), (0,), (0,))
READS: dict[str, Read] = {
    "getitem": lambda x, i: x[i],
    "row": lambda x, i: dnp.asarray(M)[i, 1:] * x[0],
    "whole axis": lambda x, i: lax.dynamic_slice(x[:, None] * M[0], (0, i), (1, 4))[0],
    "dynamic_slice": lambda x, i: lax.dynamic_slice(x, (i,), (2,)),
    "dynamic_index_in_dim": lambda x, i: lax.dynamic_index_in_dim(x, i),
    "dynamic_update_slice": lambda x, i: lax.dynamic_update_slice(x, x[:2] + 10, (i,)),
    "scatter": lambda x, i: lax.scatter_add(x, i[None], x[0] + 10, DN, mode="drop"),
    "take": lambda x, i: dnp.take(x, i),
    "take_along_axis": lambda x, i: dnp.take_along_axis(x, dnp.stack([i, i * 0]), 0),
    "get": lambda x, i: x.at[i].get(),
    "get, filled": lambda x, i: x.at[i].get(mode="fill", fill_value=7),
    "get of several": lambda x, i: x.at[dnp.stack([i, i * 0])].get(mode="promise_in_bounds"),
    "set": lambda x, i: x.at[i].set(x[0] + 10),
    "add": lambda x, i: x.at[i].add(x[0] + 10, mode="drop"),
}
MOVED: dict[str, Read] = {
    "get": lambda x, i: x.at[i].get(mode="clip"),
    "get of several": lambda x, i: x.at[dnp.stack([i, i])].get(mode="clip"),
    "set": lambda x, i: x.at[i].set(x[0] + 10, mode="clip"),
    "multiply": lambda x, i: x.at[i].multiply(x[0] + 10, mode="clip"),
    "take": lambda x, i: dnp.take(x, i, mode="clip"),
    "take_along_axis": lambda x, i: dnp.take_along_axis(x, i[None], 0, mode="clip"),
}
IN_EVERY_ORDER = ("getitem", "dynamic_slice", "dynamic_update_slice", "take")
INSIDE, OUTSIDE = np.array([0, 1, 0, 0], np.int32), np.array([1, 4, 0, -7], np.int32)


def orders(f: Read) -> dict[str, Read]:
    """Programs that return the error and what ``f`` returns at each index."""

    def in_scan(x: Any, at: Any) -> Any:
        two = at.reshape(2, 2)
        out = lax.scan(lambda c, i: (c, dovetail.vmap(f, (None, 0))(x, i)), 0, two)[1]
        return dnp.reshape(out, (4, *out.shape[2:]))

    def nested(x: Any, at: Any) -> Any:
        out = dovetail.vmap(dovetail.vmap(f, (None, 0)), (None, 1))(x, at.reshape(2, 2))
        return dnp.reshape(dnp.swapaxes(out, 0, 1), (4, *out.shape[2:]))

    def in_cond(x: Any, at: Any) -> Any:
        return lax.cond(x[0] > 0, mapped, lambda x, at: mapped(x, at) * 0, x, at)

    def in_while(x: Any, at: Any) -> Any:
        first = (0, mapped(x, at * 0))
        return lax.while_loop(lambda c: c[0] < 1, lambda c: (c[0] + 1, mapped(x, at)), first)[1]

    def of_arrays(x: Any, at: Any) -> Any:
        return dovetail.vmap(f)(dnp.stack([x] * 4), at)

    def checked(g: Read) -> Read:
        return checkify(g, index_checks)

    mapped = dovetail.vmap(f, (None, 0))
    return {
        "checkify(vmap)": checked(mapped),
        "vmap(checkify)": dovetail.vmap(checked(f), (None, 0)),
        "checkify(jit(vmap))": checked(dovetail.jit(mapped)),
        "jit(checkify(vmap))": dovetail.jit(checked(mapped)),
        "checkify(vmap(jit))": checked(dovetail.vmap(dovetail.jit(f), (None, 0))),
        "scan": checked(in_scan),
        "cond": checked(in_cond),
        "while": checked(in_while),
        "nested vmap": checked(nested),
        "arrays too": checked(of_arrays),
    }


@pytest.mark.parametrize("name", READS)
def test_each_order_finds_what_a_loop_finds(name: str) -> None:
    f, one = READS[name], checkify(READS[name], index_checks)
    for at in (INSIDE, OUTSIDE):
        result = [one(dnp.asarray(X), dnp.asarray(i)) for i in at]
        failing = any(e.get() is not None for e, _ in result)
        wanted = np.stack([np.asarray(y) for _, y in result])
        forms = orders(f) if name in IN_EVERY_ORDER else dict([*orders(f).items()][:3])
        for order, g in forms.items():
            error, out = g(dnp.asarray(X), dnp.asarray(at))
            assert (error.get() is not None) == failing, (order, at, error.get())
            assert not failing or "out-of-bounds indexing for array of shape" in error.get()
            np.testing.assert_array_equal(out, wanted, err_msg=f"{order} {at}")


def test_all_of_these_fail_somewhere() -> None:
    for name, f in READS.items():
        checked = checkify(f, index_checks)
        errors = [checked(dnp.asarray(X), dnp.asarray(i))[0].get() for i in (-5, 0, 4)]
        assert errors[1] is None and None not in (errors[0], errors[2]), name


@pytest.mark.parametrize("name", MOVED)
def test_windows_that_are_asked_to_be_moved_are_no_error(name: str) -> None:
    f, x = MOVED[name], dnp.asarray(X)
    near = np.clip(OUTSIDE, 0, 2)
    wanted = np.stack([f(x, dnp.asarray(i)) for i in near])
    for order, g in [*orders(f).items()][:4]:
        error, out = g(x, dnp.asarray(OUTSIDE))
        assert error.get() is None, (order, error.get())
        np.testing.assert_array_equal(out, wanted, err_msg=order)


def test_a_derivative_finds_it_and_has_the_derivative_of_the_moved_window() -> None:
    def f(x: Any) -> Any:
        return dnp.sum(dovetail.vmap(lambda i, w: x[i] * w)(at, weights))

    at, weights = dnp.array([0, 4, 2, -9]), dnp.array([1.0, 10.0, 100.0, 1000.0])
    for transform in (dovetail.grad, dovetail.jacfwd, dovetail.jacrev):
        error, out = checkify(transform(f), index_checks)(dnp.asarray(X))
        assert "index 4 is out of bounds for axis 0 with size 3" in error.get()
        np.testing.assert_array_equal(out, [1001, 0, 110])


@pytest.mark.parametrize("at", [(-5, 0), (0, -6), (3, 0), (0, 1)])
def test_known_starts_outside_are_found(at: tuple[int, int]) -> None:
    for read in (
        lambda m: lax.dynamic_slice(m, at, (1, 4)),
        lambda m: lax.dynamic_update_slice(m, m[:1], at),
        lambda m: lax.dynamic_slice(m, (dnp.int32(at[0]), at[1]), (1, 4)),
    ):
        assert "out-of-bounds" in checkify(read, index_checks)(dnp.asarray(M))[0].get()
        error, _ = checkify(dovetail.vmap(read), index_checks)(dnp.stack([M, M]))
        assert "out-of-bounds" in error.get()


def test_a_start_that_is_known_takes_no_part_in_the_index() -> None:
    def f(i: Any) -> Any:
        return lax.dynamic_slice(M, (i, 0), (1, 4))

    program = dovetail.make_jaxpr(dovetail.vmap(f))(np.arange(2, dtype=np.int32))
    (gather,) = [e for e in program.eqns if e.primitive.name == "gather"]
    assert gather.invars[1].aval.shape == (2, 1)
    assert gather.params["mode"].name == "CLIP_REPORTED"
