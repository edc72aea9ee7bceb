"""``jax.experimental``: that of the facade, and modules that it has not, or elsewhere."""

from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.experimental", facade="dovetail.experimental")
