"""Dovetail's kernel: primitives, traces, IR and the registry. It imports no plugin.

This module is the interface for plugin authors; its version is the version of that interface.
"""

from .xla.startup import quiet_logs as _quiet_logs, refuse_jax as _refuse_jax

_quiet_logs()
_refuse_jax()

from .algebra import Algebra as Algebra, algebra as algebra  # noqa: E402
from .axes import axis_env as axis_env, axis_size_of as axis_size_of, bound_axis as bound_axis  # noqa: E402
from .context import Option as Option, config as config, enable_x64 as enable_x64  # noqa: E402
from .dce import DceRule as DceRule, dce_closed as dce_closed, dce_jaxpr as dce_jaxpr, dce_rules as dce_rules  # noqa: E402,E501
from .derived_cells import derive as derive, lift_form as lift_form  # noqa: E402
from .effects import (  # noqa: E402
    AccumulateEffect as AccumulateEffect,
    Effect as Effect,
    InputEffect as InputEffect,
    IOEffect as IOEffect,
    NO_EFFECTS as NO_EFFECTS,
    OrderedIOEffect as OrderedIOEffect,
    ReadEffect as ReadEffect,
    WriteEffect as WriteEffect,
)
from .errors import (  # noqa: E402
    ConcretizationTypeError as ConcretizationTypeError,
    DovetailError as DovetailError,
    IRError as IRError,
    MissingRule as MissingRule,
    NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
    PluginError as PluginError,
    RegistryError as RegistryError,
    RuleConflict as RuleConflict,
    TracerArrayConversionError as TracerArrayConversionError,
    TracerBoolConversionError as TracerBoolConversionError,
    TracerIntegerConversionError as TracerIntegerConversionError,
    UnexpectedTracerError as UnexpectedTracerError,
)
from .evaluate import (  # noqa: E402
    def_impl as def_impl,
    eval_jaxpr as eval_jaxpr,
    eval_rules as eval_rules,
    jaxpr_as_fun as jaxpr_as_fun,
)
from .hooks import hookimpl as hookimpl  # noqa: E402
from .ir import (  # noqa: E402
    Atom as Atom,
    ClosedJaxpr as ClosedJaxpr,
    Eqn as Eqn,
    Jaxpr as Jaxpr,
    Literal as Literal,
    Var as Var,
)
from .lift import (  # noqa: E402
    LiftTrace as LiftTrace,
    LiftTracer as LiftTracer,
    lift_call as lift_call,
    lift_function as lift_function,
    lift_program as lift_program,
)
from .manifest import KERNEL_API as KERNEL_API, Manifest as Manifest  # noqa: E402
from .methods import install_methods as install_methods  # noqa: E402
from .passes import Pass as Pass  # noqa: E402
from .plugins import facade_getattr as facade_getattr, registry as registry  # noqa: E402
from .primitive import Primitive as Primitive, primitives as primitives  # noqa: E402
from .source import (  # noqa: E402
    current_source as current_source,
    describe as describe_source,
    hide_frames as hide_frames,
    named_scope as named_scope,
    reset_override as reset_source_override,
    set_override as set_source_override,
)
from .staging import (  # noqa: E402
    StagedTracer as StagedTracer,
    StagingTrace as StagingTrace,
    consts_to_inputs as consts_to_inputs,
    stage as stage,
    stage_closed as stage_closed,
)
from .structure import (  # noqa: E402
    CONTROL as CONTROL,
    Carrier as Carrier,
    Form as Form,
    Region as Region,
)
from .tables import Origin as Origin, RuleTable as RuleTable, generation as generation  # noqa: E402
from .trace import (  # noqa: E402
    EVAL as EVAL,
    Trace as Trace,
    Tracer as Tracer,
    check_alive as check_alive,
    get_trace as get_trace,
    reset_trace as reset_trace,
    run_under as run_under,
    set_trace as set_trace,
)
from .types import (  # noqa: E402
    AbstractValue as AbstractValue,
    ExtendedDType as ExtendedDType,
    ShapedArray as ShapedArray,
    canonical_dtype as canonical_dtype,
    float0 as float0,
    is_inexact as is_inexact,
    is_value as is_value,
    register_type as register_type,
    short_dtype as short_dtype,
    typeof as typeof,
)
