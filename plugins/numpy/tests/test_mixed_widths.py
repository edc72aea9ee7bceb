"""Arrays of 64-bit types where these are not enabled: they stay so among themselves, as in JAX."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import dovetail_lax as lax
import dovetail_numpy as dnp
from dovetail_ad import grad
from dovetail_core import enable_x64
from dovetail_jit import jit
from dovetail_lax.element_types import explicit_x64_dtypes


@pytest.fixture(autouse=True)
def narrow() -> Iterator[None]:
    with enable_x64(False):
        yield


def _wide() -> tuple[Any, Any]:
    with enable_x64(True):
        return dnp.arange(3.0), dnp.arange(3)


KEPT: dict[str, Callable[[Any, Any], Any]] = {
    "product": lambda x, i: x * x,
    "traced": lambda x, i: jit(lambda v: v * v)(x),
    "elements": lambda x, i: x[i],
    "take": lambda x, i: dnp.take(x, i),
    "write": lambda x, i: x.at[0].set(1),
    "gradient": lambda x, i: grad(lambda v: (v * v).sum())(x),
    "outer": lambda x, i: dnp.outer(x, x),
    "zeros like it": lambda x, i: dnp.zeros_like(x),
}


@pytest.mark.parametrize("name", KEPT)
def test_they_keep_their_type(name: str) -> None:
    assert KEPT[name](*_wide()).dtype == np.float64


def test_with_others_they_are_narrowed() -> None:
    x, i = _wide()
    assert (x + 1).dtype == np.float32 and (i + 1).dtype == np.int32
    assert (x + dnp.ones(3)).dtype == np.float32


def test_what_is_computed_first_does_not_decide_for_later() -> None:
    x, _ = _wide()
    for wide in (False, True, False):
        with enable_x64(wide):
            assert (x * 2).dtype == (np.float64 if wide else np.float32)


def test_a_traced_part_with_64_bits() -> None:
    def f(x: Any) -> Any:
        with enable_x64(True):
            return x.astype(float) * 2

    assert jit(f)(dnp.ones(2)).dtype == np.float64


def test_asked_for_by_name() -> None:
    with explicit_x64_dtypes("allow"):
        x = dnp.zeros(2, "float64")
        assert x.dtype == np.float64 and (x + 1).dtype == np.float64
        assert (x + dnp.ones(2)).dtype == np.float64
        assert dnp.zeros(2, float).dtype == np.float32
        assert lax.iota("int64", 3).dtype == np.int64
        third = dnp.full((2,), 1 / 3, "float64")
        np.testing.assert_array_equal(np.asarray(third), np.full(2, 1 / 3))
    with explicit_x64_dtypes("error"):
        with pytest.raises(ValueError, match=r"dtype float64 was asked for .* ask for float32"):
            dnp.zeros(2, "float64")
        assert dnp.zeros(2, float).dtype == np.float32
    with pytest.raises(ValueError, match="is 'warn', 'error' or 'allow', not 3"):
        explicit_x64_dtypes(3)
