"""What makes this a plugin: it is found, it is set out in a manifest, its table can be extended."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
from acme_stochastic import rounding, samples, significant_digits

import dovetail
from dovetail import lax, random
from dovetail_core import Primitive, registry

f32 = np.float32
KEY = random.key(0)


def run(*arguments):
    done = subprocess.run([sys.executable, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def test_it_is_listed():
    lines = run("-m", "dovetail_cli", "plugins").splitlines()
    (line,) = [x for x in lines if x.split()[:1] == ["stochastic"]]
    assert "dovetail-stochastic" in line


def test_its_rules_are_in_the_matrix():
    text = run("-m", "dovetail_cli", "explain", "reduce_sum", "stochastic.rounding")
    assert "declared" in text and "acme_stochastic.rules" in text
    text = run("-m", "dovetail_cli", "explain", "while", "stochastic.rounding")
    assert "derived" in text


def test_its_name_is_in_the_facade():
    assert dovetail.significant_digits is significant_digits


def test_a_primitive_of_ones_own():
    """It is rounded as its decomposition is, until somebody says otherwise."""
    twice_p = Primitive("acme.twice")
    twice_p.def_abstract_eval(lambda x: x)
    twice_p.def_decomposition(lambda x: lax.mul(x, 2.0))
    many, table = samples(twice_p.bind, 32), registry().table("stochastic.rounding")
    try:
        assert len(np.unique(many(f32(1.1), KEY))) == 3
        table.set(twice_p, rounding(twice_p, result=False))  # to double is exact
        np.testing.assert_array_equal(many(f32(1.1), KEY), f32(2.2))
    finally:
        del table.rules[twice_p], table.origins[twice_p]
