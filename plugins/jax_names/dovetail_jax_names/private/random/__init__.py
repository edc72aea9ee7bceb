"""``jax._src.random``: pickles of keys name its modules ``prng``, ``threefry2x32`` and ``rbg``."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax._src.random")
