"""``jax.extend``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.extend")
