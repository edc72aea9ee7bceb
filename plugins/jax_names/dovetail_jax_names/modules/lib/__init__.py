"""``jax.lib``: an empty package, as in JAX, where libraries look for what older versions had."""

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(f"module 'jax.lib' has no attribute {name!r}: JAX 0.10.2 has none either")
