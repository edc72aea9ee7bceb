"""Which modules are compiled for the widest vectors, and that it changes no bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dovetail_numpy as dnp
from dovetail import random
from dovetail_backends.cpu_rules import (
    BARRIERS,
    LEAST_DRAWN,
    PASSES,
    WIDEST,
    WIDTH,
    draws,
    options_for,
)
from dovetail_jit import jit
from dovetail_lax import erf_inv, tan

N = 3 * LEAST_DRAWN
DRAWS = {
    "bits": lambda k: random.bits(k, (N,)),
    "bytes": lambda k: random.bits(k, (N,), np.uint8),
    "uniform": lambda k: random.uniform(k, (N,)),
    "normal": lambda k: random.normal(k, (N // 64, 8, 8)),
    "randint": lambda k: random.randint(k, (N,), 0, 100),
    "gumbel": lambda k: random.gumbel(k, (N,)),
    "keys": lambda k: random.key_data(random.split(k, N)),
    "dropout": lambda k: dnp.where(random.bernoulli(k, 0.9, (N,)), dnp.ones(N), 0.0) * 2 + 1,
    "of many keys": lambda k: random.normal(k, (N // 3, 3)) + random.uniform(k, (3,)),
}
OTHERS = {
    "few": lambda k: random.uniform(k, (LEAST_DRAWN - 1,)),
    "none": lambda k: dnp.zeros(N) + 1,
    "slower": lambda k: tan(random.uniform(k, (N,))),
    "product": lambda k: random.uniform(k, (N // 64, 64)) @ dnp.ones((64, 64)),
    "sum": lambda k: random.uniform(k, (N,)).sum(),
}


def text(f: Any, *args: Any) -> str:
    return jit(f).lower(*args)._module.text


@pytest.mark.parametrize("name", DRAWS)
def test_draws_get_the_widest_vectors_and_the_same_bits(name: str) -> None:
    f, key = DRAWS[name], random.key(7)
    module = jit(f).lower(key)._module.facts()
    assert draws(module)
    assert options_for(module, lambda name: True)[WIDTH] == WIDEST
    assert WIDTH not in options_for(module, lambda name: False)
    narrow = jit(f).lower(key).compile({WIDTH: 256})
    assert np.asarray(jit(f)(key)).tobytes() == np.asarray(narrow(key)).tobytes()


@pytest.mark.parametrize("name", OTHERS)
def test_other_programs_do_not(name: str) -> None:
    assert not draws(jit(OTHERS[name]).lower(random.key(7))._module.facts())


def test_barriers_are_kept_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    module = jit(DRAWS["bits"]).lower(random.key(7))._module.facts()
    version = (0, 11, 0)
    assert options_for(module, lambda name: True, version) == {WIDTH: WIDEST, PASSES: BARRIERS}
    monkeypatch.setenv("XLA_FLAGS", "--xla_cpu_prefer_vector_width=128")
    assert options_for(module, lambda name: True, version) == {PASSES: BARRIERS}


@pytest.mark.parametrize("shape", [(3001, 3), (500, 2, 10), (8, 1001)], ids=str)
def test_normal_numbers_are_the_same_in_every_shape(shape: tuple[int, ...]) -> None:
    key, size = random.key(3), int(np.prod(shape))
    assert "reshape" not in text(erf_inv, dnp.zeros(size))
    flat, shaped = random.normal(key, (size,)), random.normal(key, shape)
    assert np.asarray(shaped).tobytes() == np.asarray(flat).tobytes()
    x = np.linspace(-0.99, 0.99, size, dtype=np.float32)
    whole = jit(lambda x: erf_inv(x) * 2)(x.reshape(shape))
    assert np.asarray(whole).tobytes() == np.asarray(jit(lambda x: erf_inv(x) * 2)(x)).tobytes()
    assert ("optimization_barrier" in text(erf_inv, x.reshape(shape))) == (shape[-1] < 256)
