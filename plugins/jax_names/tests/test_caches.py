"""Caches in JAX's form: ``linear_util.cache``, and those of libraries that are to be emptied."""

from __future__ import annotations

PROGRAM = """
import functools
import warnings

import jax
import jax.extend.backend
import jax.numpy as jnp
from jax.extend import linear_util as lu

warnings.simplefilter("ignore", DeprecationWarning)
seen = []


@lu.cache
def width(fun, n):
    seen.append(n)
    return fun.call_wrapped(n).dtype.itemsize


make = lambda n: jnp.arange(n) * 1.0
info = jax.api_util.debug_info("it", make, (3,), {})
ask = lambda: width(lu.wrap_init(make, debug_info=info), 3)
assert ask() == ask() == 4 and len(seen) == 1
with jax.enable_x64(True):
    assert ask() == ask() == 8 and len(seen) == 2
assert ask() == 4 and len(seen) == 2


@functools.lru_cache
def double(x):
    return 2 * x


jax.extend.backend.register_backend_cache(double, "doubles")
double(3)
jax.clear_caches()
assert double.cache_info().currsize == 0
assert ask() == 4 and len(seen) == 3
"""


def test_functions_are_cached_per_options_and_all_caches_are_emptied(python) -> None:
    done = python("-c", "import dovetail.jax\n" + PROGRAM)
    assert done.returncode == 0, done.stderr
