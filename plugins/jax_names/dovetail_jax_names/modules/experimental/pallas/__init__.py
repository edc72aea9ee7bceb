"""``jax.experimental.pallas``, of which nothing is there yet: libraries import it for kernels that
they run on other hardware. Each of its names says so when it is asked for."""

from ....lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental.pallas")
