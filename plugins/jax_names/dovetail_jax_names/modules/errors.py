"""``jax.errors``: the facade's, and one that is about dimensions that are symbols."""

from ..extending.dimensions import InconclusiveDimensionOperation as InconclusiveDimensionOperation
from ..lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.errors", facade="dovetail.errors")
