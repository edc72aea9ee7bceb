"""``jax.custom_derivatives``: the facade's, and primitives that libraries know by name."""

from dovetail_custom_rules import (
    custom_jvp_call_p as custom_jvp_call_p,
    custom_vjp_call_p as custom_vjp_call_p,
)

from ..lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.custom_derivatives", facade="dovetail.custom_derivatives")
