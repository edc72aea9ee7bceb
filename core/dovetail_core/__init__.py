"""Dovetail's kernel: primitives, traces, IR and the registry. It imports no plugin.

This module is the interface for plugin authors; its version is the version of that interface.
"""

import typing as _typing

from dovetail_base.caches import (
    Cache as Cache,
    WeakTable as WeakTable,
    cached as cached,
    register_cache as register_cache,
)
from dovetail_base.deprecation import deprecated as deprecated, renamed as renamed
from dovetail_base.errors import (
    ConcretizationTypeError as ConcretizationTypeError,
    DovetailError as DovetailError,
    IRError as IRError,
    MissingRule as MissingRule,
    NonConcreteBooleanIndexError as NonConcreteBooleanIndexError,
    PluginError as PluginError,
    RegistryError as RegistryError,
    RuleConflict as RuleConflict,
    ShardingTypeError as ShardingTypeError,
    TracedValueError as TracedValueError,
    TracerArrayConversionError as TracerArrayConversionError,
    TracerBoolConversionError as TracerBoolConversionError,
    TracerIntegerConversionError as TracerIntegerConversionError,
    UnexpectedTracerError as UnexpectedTracerError,
    Unsupported as Unsupported,
)
from dovetail_base.lazy import lazy_exports as lazy_exports
from dovetail_base.options import Option as Option, enable_x64 as enable_x64
from dovetail_base.source import (
    callable_name as callable_name,
    current_source as current_source,
    describe_source as describe_source,
    here as here,
    hide_frames as hide_frames,
    named_scope as named_scope,
    reset_source_override as reset_source_override,
    set_source_override as set_source_override,
)
from dovetail_mesh import manual_axis_types as manual_axis_types

from .dispatch import (
    axis_names as axis_names,
    leaks as leaks,
    value_methods as value_methods,
)
from .dispatch.axis_names import (
    axis_env as axis_env,
    axis_size_of as axis_size_of,
    bound_axis as bound_axis,
    trace_key as trace_key,
)
from .dispatch.primitive import (
    EVAL as EVAL,
    Inferred as Inferred,
    Primitive as Primitive,
    Trace as Trace,
    get_trace as get_trace,
    import_primitives as import_primitives,
    primitives as primitives,
    reset_trace as reset_trace,
    run_under as run_under,
    set_trace as set_trace,
)
from .dispatch.tracer import Tracer as Tracer, check_alive as check_alive
from .dispatch.traits import Traits as Traits
from .dispatch.value_methods import install_methods as install_methods
from .interpret import local_values as local_values
from .interpret.carrier import Carrier as Carrier, MissingMethod as MissingMethod
from .interpret.control_flow import (
    LiftedRegions as LiftedRegions,
    derive as derive,
    lift_regions as lift_regions,
    lift_structures as lift_structures,
)
from .interpret.interpreter import (
    Interpreter as Interpreter,
    interpret as interpret,
    program_of as program_of,
)
from .interpret.lifting import (
    LiftTrace as LiftTrace,
    LiftTracer as LiftTracer,
    lift_call as lift_call,
    lift_function as lift_function,
    lift_program as lift_program,
)
from .ir import programs as programs, rewriting as rewriting
from .ir.programs import (
    Atom as Atom,
    ClosedJaxpr as ClosedJaxpr,
    Eqn as Eqn,
    Jaxpr as Jaxpr,
    Literal as Literal,
    Var as Var,
)
from .ir.regions import (
    CONTROL as CONTROL,
    Kind as Kind,
    Operand as Operand,
    Region as Region,
    RegionInterface as RegionInterface,
    call_interface as call_interface,
)
from .ir.rewriting import (
    Application as Application,
    Part as Part,
    Slot as Slot,
    assemble as assemble,
    slots_of as slots_of,
)
from .moved import find_moved_modules as _find_moved_modules, is_moved as _is_moved
from .registry import discovery as discovery
from .registry.discovery import registry as registry
from .registry.manifest import (
    KERNEL_API as KERNEL_API,
    OLDEST_KERNEL_API as OLDEST_KERNEL_API,
    Manifest as Manifest,
    names_of as names_of,
)
from .rules import (
    dead_code as dead_code,
    evaluation as evaluation,
    rule_checks as rule_checks,
    staging as staging,
)
from .rules.dead_code import (
    DceRule as DceRule,
    dce_closed as dce_closed,
    dce_jaxpr as dce_jaxpr,
    dce_rules as dce_rules,
)
from .rules.evaluation import (
    def_impl as def_impl,
    eval_jaxpr as eval_jaxpr,
    eval_rules as eval_rules,
    jaxpr_as_fun as jaxpr_as_fun,
)
from .rules.staging import (
    StagedTracer as StagedTracer,
    StagingTrace as StagingTrace,
    consts_to_inputs as consts_to_inputs,
    stage as stage,
    stage_closed as stage_closed,
)
from .rules.tables import Origin as Origin, RuleTable as RuleTable, generation as generation
from .rules.trace_cache import TraceCache as TraceCache, trace_cache as trace_cache
from .types import (
    effects as effects,
    type_shardings as type_shardings,
)
from .types.algebra import (
    Algebra as Algebra,
    add_tangents as add_tangents,
    algebra as algebra,
    match_cotangent as match_cotangent,
    zeros_like_aval as zeros_like_aval,
)
from .types.avals import (
    AbstractValue as AbstractValue,
    ShapedArray as ShapedArray,
    leading_size as leading_size,
    low_types as low_types,
    with_leading as with_leading,
    without_leading as without_leading,
)
from .types.dtypes import (
    ExtendedDType as ExtendedDType,
    canonical_dtype as canonical_dtype,
    dtype_named as dtype_named,
    float0 as float0,
    is_inexact as is_inexact,
    needs_x64 as needs_x64,
    short_dtype as short_dtype,
)
from .types.effects import (
    NO_EFFECTS as NO_EFFECTS,
    AccumulateEffect as AccumulateEffect,
    Effect as Effect,
    Effects as Effects,
    InputEffect as InputEffect,
    IOEffect as IOEffect,
    OrderedIOEffect as OrderedIOEffect,
    ReadEffect as ReadEffect,
    RetypeEffect as RetypeEffect,
    WriteEffect as WriteEffect,
)
from .types.typeof import (
    is_value as is_value,
    register_type as register_type,
    typeof as typeof,
)


def _shown(self: Jaxpr | ClosedJaxpr) -> str:
    from dovetail_text import printer  # loaded when something is printed

    return printer.print_ir(self)


def _text_of(self: Jaxpr, eqn: Eqn) -> str:
    from dovetail_text import printer

    return printer.print_eqn(self, eqn)


_find_moved_modules()

_OLD_NAMES: dict[str, tuple[str, str]] = {}
"""By deprecated names: the new name, and the version that removes the old one."""

for _program in (Jaxpr, ClosedJaxpr):
    _program.__str__ = _program.__repr__ = _shown
Jaxpr.text_of = _text_of

if _typing.TYPE_CHECKING:
    from .late import *  # noqa: F403
else:
    from dovetail_base.lazy import callable_package as _callable

    from .late import __dir__ as __dir__, __getattr__ as _late

    interpret = _callable("dovetail_core.interpret", interpret)
    registry = _callable("dovetail_core.registry", registry)

    def __getattr__(name: str) -> object:
        if name != "__all__":
            return _late(name)
        modules = [(n, x) for n, x in [*globals().items()] if type(x) is type(_typing)]
        # A module that was imported by its old name is an attribute, too.
        inner = [n for n, x in modules if not hasattr(x, "__all__") or _is_moved(n)]
        return [n for n in __dir__() if not n.startswith("_") and n not in inner]

    __getattr__ = renamed(__name__, _OLD_NAMES, __getattr__)
