"""``jax.interpreters``: the rules of each transformation, and what they are written with."""

from importlib import import_module
from types import ModuleType

_MODULES = ("ad", "batching", "mlir", "partial_eval", "pxla", "xla")


def __getattr__(name: str) -> ModuleType:
    if name not in _MODULES:
        raise AttributeError(f"module 'jax.interpreters' has no attribute {name!r}")
    return import_module(f"{__name__}.{name}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
