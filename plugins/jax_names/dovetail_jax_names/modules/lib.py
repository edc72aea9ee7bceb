"""``jax.lib``: a package, which is empty since JAX 0.10; libraries look there for what it had."""

from ..lookup import attributes as _attributes

__path__: list[str] = []
__getattr__, __dir__ = _attributes("jax.lib")
