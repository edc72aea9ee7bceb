"""Public classes and functions say the modules in which JAX has them: in pickles, in tracebacks, in
what shows types by their names (treescope, penzai)."""

from __future__ import annotations

from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import Any

from dovetail_base.lazy import contents

from .names import home

_CLASSES = {
    "jax": ("Array", "ShapeDtypeStruct"),
    "jax.dtypes": ("TypePromotionError", "extended", "prng_key"),
    "jax.errors": (
        "ConcretizationTypeError", "InconclusiveDimensionOperation", "JAXIndexError",
        "JAXTypeError", "JaxprTypeError", "KeyReuseError", "NonConcreteBooleanIndexError",
        "TracerArrayConversionError", "TracerBoolConversionError", "TracerIntegerConversionError",
        "UnexpectedTracerError",
    ),
    "jax.sharding": ("PartitionSpec",),
    "jax.tree_util": ("Partial",),
}  # fmt: skip


def named(module: str, name: str, value: Any) -> Any:
    """``value``, which is JAX's ``name`` of ``module``, after it was told so.

    A module is found by its name in JAX, so that its contents are told, too. Functions of Dovetail
    and classes that say a module of the facade are told where the name leads back to them; those of
    several modules say the first of which they were asked.
    """
    if isinstance(value, ModuleType):
        return import_module(f"{module}.{name}") if home(f"{module}.{name}") else value
    own = getattr(value, "__module__", None)
    if name in _CLASSES.get(module, ()):
        value.__module__ = module
    elif isinstance(own, str) and own.startswith("dovetail") and callable(value):
        is_renamed = own.startswith("dovetail.") or not isinstance(value, type)
        if is_renamed and getattr(value, "__qualname__", "") == name:
            with suppress(AttributeError, TypeError):  # its class has no such attribute
                value.__module__ = module
    return value


def name_contents(module: str, loaded: ModuleType) -> None:
    """Tell what a module has, and what it will have when it is asked for it."""
    own = contents(loaded)
    for name in _CLASSES.get(module, ()):
        named(module, name, getattr(loaded, name))
    for name, value in [*own.items()]:
        if not name.startswith("_"):
            named(module, name, value)
    get = own.get("__getattr__")
    if get is None or not loaded.__name__.startswith("dovetail."):  # others tell it themselves
        return

    def __getattr__(name: str) -> Any:
        return named(module, name, get(name))

    own["__getattr__"] = __getattr__
