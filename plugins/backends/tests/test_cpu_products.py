"""Which modules' products of matrices are left to oneDNN."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail_backends.cpu_rules import (
    COUNT,
    FUSIONS,
    NO_FUSIONS,
    Product,
    has_products_of_a_middle_size,
    options_for,
    products,
)
from dovetail_backends.pjrt.facts import ModuleFacts
from dovetail_jit import jit
from dovetail_lax import fori_loop, optimization_barrier


def facts(f: Any, *args: Any) -> ModuleFacts:
    """The facts of a function's module."""
    return jit(f).lower(*args)._module.facts()


def options(module: ModuleFacts, version: tuple[int, ...]) -> Any:
    return options_for(module, lambda name: True, version)


def chain(x: Any, w: Any) -> Any:
    """As many products as it takes, which do not repeat."""
    for i in range(COUNT):
        x = dnp.tanh(x @ w) * float(i)
    return x


def ones(*shape: int, dtype: str = "float32") -> Any:
    return np.ones(shape, dtype)


def test_products_of_a_middle_size() -> None:
    module = facts(chain, ones(64, 64), ones(64, 64))
    assert has_products_of_a_middle_size(module)
    assert options(module, (0, 10, 2)) == {FUSIONS: NO_FUSIONS}
    assert options(module, (0, 11, 0)) == {}
    got = jit(chain)(ones(64, 64), ones(64, 64))
    np.testing.assert_allclose(np.asarray(got), np.full((64, 64), np.asarray(got)[0, 0]))


def test_sizes_of_products() -> None:
    def f(x: Any, y: Any, z: Any) -> Any:
        return dnp.einsum("abij,abjk->abik", x, y), dnp.einsum("abij,ajk->bik", x, z)

    result = products(facts(f, ones(2, 3, 4, 5), ones(2, 3, 5, 6), ones(2, 5, 7)))
    assert result is not None
    assert sorted((p.batch, p.k, p.work) for p in result) == [(1, 10, 840), (6, 5, 120)]
    assert Product(1, 2, 3, 4).work == 24


@pytest.mark.parametrize("shape", [(0, 3, 4, 5), (2, 0, 4, 5), (2, 3, 4, 0), (2, 3, 0, 5)])
def test_empty_products_have_no_work(shape: tuple[int, ...]) -> None:
    """As where a model has no inputs, beside products that do have some."""

    def f(x: Any, y: Any, z: Any) -> Any:
        return chain(z, z), dnp.einsum("abij,abjk->abik", x, y), dnp.einsum("abij,abij->ab", x, x)

    args = ones(*shape), ones(*shape[:2], shape[3], 6), ones(64, 64)
    module = facts(f, *args)
    result = products(module)
    assert result is not None and not has_products_of_a_middle_size(module)
    assert result[-2:] == [
        Product(shape[0] * shape[1], shape[2], shape[3], 6),
        Product(shape[0] * shape[1], 1, shape[2] * shape[3], 1),
    ]
    batched, whole = jit(f)(*args)[1:]
    np.testing.assert_array_equal(batched, args[0] @ args[1])
    np.testing.assert_array_equal(whole, np.sum(args[0] ** 2, (2, 3)))


@pytest.mark.parametrize(
    "f, args",
    [
        (chain, (ones(8, 16), ones(16, 16))),  # small
        (chain, (ones(16, 128), ones(128, 128))),  # of few rows
        (chain, (ones(256, 128), ones(128, 128))),  # large
        (chain, (ones(6, 64, 64), ones(6, 64, 64))),  # batches
        (chain, (ones(64, 64, dtype="float16"), ones(64, 64, dtype="float16"))),
        (lambda x, w: dnp.tanh(x @ w) @ w, (ones(64, 64), ones(64, 64))),  # few
        (lambda x, w: chain(optimization_barrier(x), w), (ones(64, 64), ones(64, 64))),
        (chain, (ones(0, 0), ones(0, 0))),
        (lambda x, w: fori_loop(0, 3, lambda _, y: chain(y, w), x), (ones(64, 64), ones(64, 64))),
    ],
)
def test_others_are_the_librarys(f: Any, args: Any) -> None:
    assert not has_products_of_a_middle_size(facts(f, *args))


def test_flags_of_the_environment_win(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XLA_FLAGS", f"--{FUSIONS}=")
    assert options(facts(chain, ones(64, 64), ones(64, 64)), (0, 10, 2)) == {}
