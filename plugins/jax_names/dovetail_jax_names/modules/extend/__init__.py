"""``jax.extend``: what libraries that extend JAX are told to use."""

from importlib import import_module
from typing import Any

_MODULES = (
    "backend",
    "core",
    "linear_util",
    "lowering",
    "mlir",
    "random",
    "sharding",
    "source_info_util",
    "xla",
)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module 'jax.extend' has no attribute {name!r}")
    return import_module(f"jax.extend.{name}")


def __dir__() -> list[str]:
    return sorted(_MODULES)
