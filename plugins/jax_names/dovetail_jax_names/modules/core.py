"""``jax.core``."""

from typing import Any

from dovetail_core import (
    EVAL as _EVAL,
    AbstractValue as AbstractValue,
    Atom as Atom,
    ShapedArray as ShapedArray,
    Tracer as Tracer,
)
from dovetail_jit import ensure_compile_time_eval as ensure_compile_time_eval

from ..extending.programs import eval_jaxpr as eval_jaxpr
from ..extending.traces import Trace as Trace, set_current_trace as _set_current_trace
from ..lookup import attributes as _attributes

Value = Any
ParamDict = dict[str, Any]


def max_dim(d1: int, d2: int) -> int:
    """The greater of two dimensions."""
    return max(d1, d2)


def min_dim(d1: int, d2: int) -> int:
    """The lesser of two dimensions."""
    return min(d1, d2)


def eval_context() -> _set_current_trace:
    """Context manager under which operations on known values are evaluated."""
    return _set_current_trace(_EVAL)


_MOVED = (
    "CallPrimitive DebugInfo DropVar Effect Effects InconclusiveDimensionOperation JaxprTypeError "
    "check_jaxpr concrete_or_error find_top_trace gensym get_opaque_trace_state jaxprs_in_params "
    "new_jaxpr_eqn no_effects nonempty_axis_env_DO_NOT_USE primal_dtype_to_tangent_dtype "
    "unsafe_am_i_under_a_jit_DO_NOT_USE unsafe_am_i_under_a_vmap_DO_NOT_USE "
    "unsafe_get_axis_names_DO_NOT_USE valid_jaxtype"
).split()
_OLD = {name: f"jax.extend.core.{name}" for name in _MOVED}
_OLD["pytype_aval_mappings"] = "dovetail_core.types.typeof.type_handlers"
_OLD["trace_ctx"] = "dovetail_jax_names.private.core.trace_ctx"
_OLD["is_constant_dim"] = "dovetail_jax_names.extending.types.is_constant_dim"
_OLD["call"] = "dovetail_jax_names.extending.primitive.call"
_REMOVED = {name: f"jax.extend.core.{name}" for name in (
    "mapped_aval", "unmapped_aval", "set_current_trace", "take_current_trace", "TraceTag",
    "call_impl", "subjaxprs", "AbstractToken",
)}  # fmt: skip
_REMOVED["get_aval"] = "jax.typeof"

__getattr__, __dir__ = _attributes("jax.core", _OLD, _REMOVED)
