"""``jax.ffi``, of which nothing is there yet: each of its names says so when it is asked for."""

from ..lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.ffi")
