"""Primitives are defined family by family, with all that is said of them in one place."""

from __future__ import annotations

import subprocess
import sys

from dovetail_core import primitives
from dovetail_core.dispatch.primitive import import_primitives
from dovetail_lax import families
from dovetail_lax.primitives import forms, traits

FIRST_STEP = """
import sys
import dovetail
import dovetail.numpy as jnp

dovetail.jit(dovetail.grad(lambda x: jnp.sum(jnp.sin(x) * x)))(jnp.ones(3))
here = "dovetail_lax.primitives."
print(*[m.removeprefix(here) for m in sys.modules if m.startswith(here)])
print(*[m for m in sys.modules if m.startswith("dovetail_lax.rules.")])
"""


def test_what_is_said_is_said_of_primitives_that_there_are() -> None:
    import_primitives()
    named = {n for n, p in primitives().items() if p.module in families.PRIMITIVES}
    said = {*traits._said(), *traits.OF_NUMBERS.split(), *forms.FURTHER}
    assert said <= named
    assert all(primitives()[n].traits.parameters is traits.PARAMETERS for n in named)


def test_every_module_with_primitives_is_one_of_the_manifest() -> None:
    import_primitives()
    modules = {p.module for p in primitives().values() if p.module.startswith("dovetail_lax")}
    assert modules <= set(families.PRIMITIVES)
    assert {m for homes in families.families().values() for m in homes} <= set(families.PRIMITIVES)


def test_a_program_loads_the_families_that_it_uses() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP], capture_output=True, text=True, check=True
    )
    loaded, rules = map(str.split, done.stdout.splitlines())
    assert {"arithmetic", "reductions", "transcendental"} <= set(loaded)
    others = "condensed control_flow factorizations fft rng spectral tridiagonal while_loop windows"
    assert not set(others.split()) & set(loaded)
    assert not [m for m in rules if m.endswith((".linalg", ".sorting", ".windows", ".special"))]
