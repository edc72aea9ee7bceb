"""Derivatives within ``shard_map(check_vma=False)``: sums are one result for each device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail
from dovetail import P, lax, numpy as dnp, shard_map

V = np.arange(8, dtype=np.float32)


@pytest.fixture
def run_on_devices(devices) -> Any:
    mesh = dovetail.sharding.Mesh(np.array(devices), ("i",))
    options: Any = {"mesh": mesh, "in_specs": P("i"), "out_specs": P("i"), "check_vma": False}
    return lambda f: shard_map(f, **options)(V)


@pytest.mark.parametrize("weight", [2.0, np.float32(2), "array"])
def test_gradients_of_values_that_the_function_makes(run_on_devices, weight):
    def start() -> Any:
        return dnp.float32(2) if weight == "array" else weight

    def gradient(b: Any) -> Any:
        return dovetail.grad(lambda w: lax.psum((w * b).sum(), "i"))(start())[None]

    def by_vjp(b: Any) -> Any:
        return dovetail.vjp(lambda w: lax.psum(w * b, "i"), dnp.ones(1))[1](dnp.ones(1))[0]

    def by_transposition(b: Any) -> Any:
        f = dovetail.linear_transpose(lambda w: lax.psum(w * b, "i"), dnp.ones(1))
        return f(dnp.ones(1))[0]

    for f in (gradient, by_vjp, by_transposition):
        np.testing.assert_array_equal(run_on_devices(f), 8 * V)


def test_under_pmap(devices):
    f = dovetail.pmap(
        lambda b: dovetail.grad(lambda w: lax.pmean(w * b, "k"))(2.0),
        axis_name="k",
        devices=devices,
    )
    np.testing.assert_array_equal(f(V), V)


def test_gathered(run_on_devices):
    def gradient(b: Any) -> Any:
        return dovetail.grad(lambda w: (lax.all_gather(w * b, "i") ** 2).sum())(2.0)[None]

    np.testing.assert_array_equal(run_on_devices(gradient), 8 * 2 * V * 2 * V)
