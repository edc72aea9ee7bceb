"""Python integers that no array element holds: the error says which argument it is."""

from __future__ import annotations

import re

import pytest

import dovetail
import dovetail.numpy as jnp


@dovetail.jit
def total(x, y):
    return x["a"] + y


@pytest.mark.parametrize("seen", [False, True])
def test_the_argument_is_named(seen):
    total.clear_cache()
    if seen:
        assert total({"a": 1}, y=2) == 3 and total({"a": 1}, 2) == 3
    for args, kwargs, where in [
        (({"a": 1 << 70},), {"y": 1}, "args[0]['a']"),
        (({"a": 1},), {"y": -(1 << 31) - 1}, "kwargs['y']"),
        (({"a": 1}, 1 << 31), {}, "args[1]"),
    ]:
        said = f"jit of total: {where}: the Python integer "
        with pytest.raises(
            OverflowError, match=f"^{re.escape(said)}.* does not fit into int32 at "
        ):
            total(*args, **kwargs)


def test_what_fits_is_taken():
    assert total({"a": (1 << 31) - 1}, 0) == (1 << 31) - 1
    with dovetail.enable_x64(True):
        assert total({"a": 1 << 62}, 0) == 1 << 62


def test_beside_floats_and_as_bounds():
    with pytest.raises(OverflowError, match="does not fit into float32 at "):
        dovetail.grad(lambda x: x * 10**400)(1.0)
    with pytest.raises(
        OverflowError, match=r"^fori_loop: from 0 to 10{30} is more than 2\*\*63 - 1"
    ):
        dovetail.lax.fori_loop(0, 10**30, lambda i, x: x, 1.0)
    assert float(jnp.ones(3)[0] + 10**30) == pytest.approx(1e30)
