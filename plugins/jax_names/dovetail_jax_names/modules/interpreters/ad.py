"""``jax.interpreters.ad``."""

from dovetail_ad import JvpTrace as JVPTrace, JvpTracer as JVPTracer
from dovetail_lax import add_p as add_jaxvals_p

from ...extending.differentiation import (
    defbilinear as defbilinear,
    defjvp as defjvp,
    defjvp2 as defjvp2,
    deflinear as deflinear,
    deflinear2 as deflinear2,
    get_primitive_transpose as get_primitive_transpose,
    jvp as jvp,
    linearize as linearize,
    primitive_jvps as primitive_jvps,
    primitive_transposes as primitive_transposes,
)
from ...extending.zeros import (
    UndefinedPrimal as UndefinedPrimal,
    Zero as Zero,
    add_jaxvals as add_jaxvals,
    add_tangents as add_tangents,
    instantiate_zeros as instantiate_zeros,
    is_undefined_primal as is_undefined_primal,
    zeros_like_aval as zeros_like_aval,
)
from ...lookup import attributes as _attributes

__getattr__, __dir__ = _attributes("jax.interpreters.ad")
