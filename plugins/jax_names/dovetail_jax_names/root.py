"""The module ``jax``: the names of the facade that JAX has, and modules below it."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from dovetail_base.lazy import absent_name
from dovetail_core import config
from dovetail_xla.callbacks import report_as_runtime_errors

from . import names
from .absence import VERSION, reason
from .classes import named
from .options import IDLE, add_options
from .pickles import name_trees

__name__ = "jax"
_OWN = ["__version__", "__version_info__"]
__version__ = f"{VERSION}+dovetail"
__version_info__ = tuple(int(part) for part in VERSION.split("."))
__path__: list[str] = []  # a package, whose modules the import hook finds

add_options()
name_trees()
report_as_runtime_errors()


def __getattr__(name: str) -> Any:
    if name == "__all__":
        return [n for n in __dir__() if not n.startswith("_")]
    if not name.startswith("__"):
        if names.home(f"jax.{name}"):
            return import_module(f"jax.{name}")
        facade = import_module(names.FACADE)
        if names.knows("jax", name) and hasattr(facade, name):
            value = named("jax", name, getattr(facade, name))
            globals()[name] = value
            return value
    if name in IDLE and names.knows("jax", name):
        return config.option(name)
    text = f"module 'jax' has no attribute {name!r}. {reason('jax', name)}"
    raise absent_name(text, "jax", name, sys._getframe(1))  # pyright: ignore[reportPrivateUsage]


def __dir__() -> list[str]:
    facade = import_module(names.FACADE)
    return sorted({*_OWN, *(n for n in (*dir(facade), *IDLE) if names.knows("jax", n))})
