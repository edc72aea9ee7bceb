"""Generators with a state: each draw is that of the base key folded with its number."""

from __future__ import annotations

import numpy as np
import pytest

import dovetail
from dovetail import jit, numpy as dnp, random, vmap
from dovetail.experimental.random import StatefulPRNG, stateful_rng


def fold(n, seed=0):
    return random.fold_in(random.key(seed), n)


def same(x, y):
    np.testing.assert_allclose(x, y, rtol=1e-6)


def test_draws_are_those_of_folded_keys():
    rng = stateful_rng(0)
    same(rng.uniform(1, 3, 4), random.uniform(fold(0), (4,), minval=1, maxval=3))
    same(rng.normal(1, 3, (2, 2)), random.normal(fold(1), (2, 2)) * 3 + 1)
    same(rng.integers(5, size=4), random.randint(fold(2), (4,), 0, 5))
    same(rng.integers(-2, 9), random.randint(fold(3), (), -2, 9))
    same(rng.random(3), random.uniform(fold(4), (3,)))
    assert (rng.key((2, 3)) == random.split(fold(5), (2, 3))).all()
    assert (rng.key() == fold(6)).all()
    assert "StatefulPRNG(_base_key=" in repr(rng)


def test_shapes_and_types():
    rng = stateful_rng(3)
    assert rng.uniform(dnp.zeros(2), dnp.ones((3, 1))).shape == (3, 2)
    assert rng.normal(dnp.zeros(2)).shape == (2,)
    assert rng.normal(size=(), dtype="bfloat16").dtype == "bfloat16"
    assert rng.integers(dnp.array([5, 6]), dtype="uint8").dtype == np.uint8
    assert random.key_impl(stateful_rng(0, impl="rbg").key()) == "rbg"


def test_compiled_functions_update_the_state():
    rng = stateful_rng(7)
    draw = jit(lambda: rng.uniform())
    same([draw(), draw(), rng.uniform()], [random.uniform(fold(n, 7)) for n in range(3)])
    given = jit(lambda g, n: g.normal(size=n), static_argnums=1)
    same(given(rng, 2), random.normal(fold(3, 7), (2,)))
    same(jit(lambda: stateful_rng(3).uniform())(), random.uniform(fold(0, 3)))


def test_split_generators_are_mapped_over():
    rng = stateful_rng(1)
    keys = random.split(fold(0, 1), 3)
    drawn = vmap(lambda g, x: x + g.uniform())(rng.split(3), dnp.zeros(3))
    same(drawn, [random.uniform(random.fold_in(k, 0)) for k in keys])
    children = stateful_rng(1).spawn(3)
    same([g.uniform() for g in children], drawn)
    assert rng.spawn(0) == []


def test_a_generator_is_a_pytree():
    leaves, structure = dovetail.tree.flatten(stateful_rng(1))
    again = dovetail.tree.unflatten(structure, leaves)
    same(again.uniform(), random.uniform(fold(0, 1)))


def test_without_a_seed():
    assert float(stateful_rng().uniform()) != float(stateful_rng().uniform())


def test_errors():
    place = r"at .*test_stateful_random\.py"
    with pytest.raises(
        TypeError, match=rf"stateful_rng {place}.*: a function is being traced, .*see"
    ):
        jit(lambda: stateful_rng().uniform())()
    with pytest.raises(
        ValueError, match=rf"StatefulPRNG {place}.*: the base key is of type int; give"
    ):
        StatefulPRNG(3, dovetail.new_ref(0))
    with pytest.raises(
        ValueError, match="the counter is of type int; give a reference to an integer"
    ):
        StatefulPRNG(random.key(0), 3)
    with pytest.raises(ValueError, match=r"was split to the shape \(2,\); map a function over it"):
        stateful_rng(0).split(2).uniform()
    with pytest.raises(ValueError, match="n_children is -1; it must not be negative"):
        stateful_rng(0).spawn(-1)
    with pytest.raises(TypeError):
        stateful_rng("a")
