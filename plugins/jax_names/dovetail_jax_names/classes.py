"""Public classes say the modules in which JAX has them: in pickles, in tracebacks, in what shows
types by their names (treescope, penzai)."""

from __future__ import annotations

from types import ModuleType
from typing import Any

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


def name_class(module: str, name: str, value: Any) -> Any:
    """``value``, which is JAX's ``name`` of ``module``, after it was told so."""
    if name in _CLASSES.get(module, ()):
        value.__module__ = module
    return value


def name_classes_of(module: str, loaded: ModuleType) -> None:
    """Tell those of a module, where it has some."""
    for name in _CLASSES.get(module, ()):
        name_class(module, name, getattr(loaded, name))
