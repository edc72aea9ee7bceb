"""``jax.interpreters.xla``."""

from dovetail_xla.client import Client as Backend

from ...extending.primitive import apply_primitive as apply_primitive
from ...extending.types import canonicalize_dtype_handlers as canonicalize_dtype_handlers
from ...lookup import attributes as _attributes

__all__ = ["Backend", "apply_primitive", "canonicalize_dtype_handlers"]
__getattr__, __dir__ = _attributes("jax.interpreters.xla")
