"""``jax._src``: the private modules of JAX that libraries use, a module for each.

Only what a library is known to use is there; each module says which library that is. ``dovetail run
--report`` lists the modules that a program asked for.
"""

from __future__ import annotations

from importlib import import_module, util
from types import ModuleType

from .absent import absent


def __getattr__(name: str) -> ModuleType:
    if not name.startswith("_") and util.find_spec(f"{__name__}.{name}") is not None:
        return import_module(f"jax._src.{name}")
    raise absent("jax._src", name)
