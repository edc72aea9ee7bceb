"""Primitives are defined family by family, and all their traits in one table."""

from __future__ import annotations

import subprocess
import sys

from dovetail_core import primitives
from dovetail_core.dispatch.primitive import import_primitives
from dovetail_lax.plugin import MANIFEST
from dovetail_lax.primitives import traits

FIRST_STEP = """
import sys
import dovetail
import dovetail.numpy as jnp

dovetail.jit(dovetail.grad(lambda x: jnp.sum(jnp.sin(x) * x)))(jnp.ones(3))
here = "dovetail_lax.primitives."
print(*[m.removeprefix(here) for m in sys.modules if m.startswith(here)])
print(*[m for m in sys.modules if m.startswith("dovetail_lax.rules.")])
"""


def test_traits_are_of_primitives_that_exist() -> None:
    import_primitives()
    named = {n for n, p in primitives().items() if p.module in MANIFEST.primitives}
    described = {*traits._traits_by_name(), *traits.OF_NUMBERS.split(), *traits.FURTHER}
    assert described <= named
    assert all(primitives()[n].traits.parameters is traits.PARAMETERS for n in named)


def test_every_module_with_primitives_is_one_of_the_manifest() -> None:
    import_primitives()
    modules = {p.module for p in primitives().values() if p.module.startswith("dovetail_lax")}
    assert modules <= set(MANIFEST.primitives)
    assert {m for homes in MANIFEST.families.values() for m in homes} <= set(MANIFEST.primitives)


def test_a_program_loads_the_families_that_it_uses() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FIRST_STEP], capture_output=True, text=True, check=True
    )
    loaded, rules = map(str.split, done.stdout.splitlines())
    assert {"arithmetic", "reductions", "transcendental"} <= set(loaded)
    unused = "condensed control_flow factorizations fft rng spectral windows"
    assert not set(unused.split()) & set(loaded)
    assert not [m for m in rules if m.endswith((".linalg", ".sorting", ".windows", ".special"))]
