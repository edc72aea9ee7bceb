"""``jax._src.interpreters``: flax uses the module ``pxla`` of it."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax._src.interpreters")
