"""Surface ``custom_batching``: rules of batching, by JAX's names."""

from .decorators import custom_vmap as custom_vmap, sequential_vmap as sequential_vmap

__all__ = ["custom_vmap", "sequential_vmap"]
