"""``jax._src``: the private modules of JAX that libraries use, a module for each.

Only what a library is known to use is there; each module says which library that is. ``dovetail run
--report`` lists the modules that a program asked for.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from ..names import home
from .absent import absent as absence_error


def __getattr__(name: str) -> ModuleType:
    found = "" if name.startswith("_") else home(f"jax._src.{name}")
    if not found:
        raise absence_error("jax._src", name)
    return import_module(found)
