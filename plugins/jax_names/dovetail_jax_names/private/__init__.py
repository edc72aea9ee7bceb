"""``jax._src``: the private modules of JAX that libraries use, a module for each.

Only what a library is known to use is there; each module says which library that is. ``dovetail run
--report`` lists the modules that a program asked for.
"""

from __future__ import annotations

from types import ModuleType

from ..absent_names import absent
from ..names import home, load


def __getattr__(name: str) -> ModuleType:
    result = "" if name.startswith("_") else home(f"jax._src.{name}")
    if not result:
        raise absent("jax._src", name)
    return load(result)
