"""``jax._src.state``: flax uses the module ``types`` of it."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax._src.state")
