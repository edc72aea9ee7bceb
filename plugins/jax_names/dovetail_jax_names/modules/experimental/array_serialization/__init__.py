"""``jax.experimental.array_serialization``: arrays in files, by the library tensorstore."""

from ....lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental.array_serialization")
