"""``jax.extend.linear_util``."""

from collections.abc import Callable as Callable

from ...extending.functions import (
    StoreException as StoreException,
    WrappedFun as WrappedFun,
    cache as cache,
    merge_linear_aux as merge_linear_aux,
    transformation as transformation,
    transformation2 as transformation2,
    transformation_with_aux as transformation_with_aux,
    transformation_with_aux2 as transformation_with_aux2,
    wrap_init as wrap_init,
)
from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.extend.linear_util")
