"""``jax.extend.core``."""

from collections.abc import Set as _Set

from dovetail_base.errors import JaxprTypeError as JaxprTypeError
from dovetail_core import (
    NO_EFFECTS as no_effects,
    ClosedJaxpr as ClosedJaxpr,
    Effect as Effect,
    Eqn as JaxprEqn,
    Literal as Literal,
    Var as Var,
    check_jaxpr as check_jaxpr,
)
from dovetail_jax_names.debug_info import DebugInfo as DebugInfo

from ....extending.primitive import (
    CallPrimitive as CallPrimitive,
    Primitive as Primitive,
    call_impl as call_impl,
)
from ....extending.programs import (
    DropVar as DropVar,
    Jaxpr as Jaxpr,
    gensym as gensym,
    jaxpr_as_fun as jaxpr_as_fun,
    jaxprs_in_params as jaxprs_in_params,
    new_jaxpr_eqn as new_jaxpr_eqn,
    subjaxprs as subjaxprs,
)
from ....extending.traces import (
    TraceTag as TraceTag,
    concrete_or_error as concrete_or_error,
    find_top_trace as find_top_trace,
    get_opaque_trace_state as get_opaque_trace_state,
    mapped_aval as mapped_aval,
    nonempty_axis_env_DO_NOT_USE as nonempty_axis_env_DO_NOT_USE,
    primal_dtype_to_tangent_dtype as primal_dtype_to_tangent_dtype,
    set_current_trace as set_current_trace,
    take_current_trace as take_current_trace,
    unmapped_aval as unmapped_aval,
    unsafe_am_i_under_a_jit_DO_NOT_USE as unsafe_am_i_under_a_jit_DO_NOT_USE,
    unsafe_am_i_under_a_vmap_DO_NOT_USE as unsafe_am_i_under_a_vmap_DO_NOT_USE,
    unsafe_get_axis_names_DO_NOT_USE as unsafe_get_axis_names_DO_NOT_USE,
    valid_jaxtype as valid_jaxtype,
)
from ....extending.types import (
    InconclusiveDimensionOperation as InconclusiveDimensionOperation,
    array_types as array_types,
)
from ....lookup import attributes as _attributes

Effects = _Set[Effect]

__getattr__, __dir__ = _attributes("jax.extend.core")
