"""``jax.interpreters.mlir``: lowering rules, and what they are written with."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from importlib import import_module
from typing import Any

from dovetail_xla import mlir_functions as _bindings

from ...lowering.callbacks import emit_python_callback as emit_python_callback
from ...lowering.contexts import (
    AxisContext as AxisContext,
    LoweringParameters as LoweringParameters,
    LoweringResult as LoweringResult,
    LoweringRuleContext as LoweringRuleContext,
    ModuleContext as ModuleContext,
    ShapePolyLoweringState as ShapePolyLoweringState,
    ShardingContext as ShardingContext,
    SPMDAxisContext as SPMDAxisContext,
    TokenSet as TokenSet,
    lowerable_effects as lowerable_effects,
)
from ...lowering.programs import (
    core_call_lowering as core_call_lowering,
    jaxpr_subcomp as jaxpr_subcomp,
    lower_fun as lower_fun,
    lower_jaxpr_to_fun as lower_jaxpr_to_fun,
    lower_jaxpr_to_module as lower_jaxpr_to_module,
)
from ...lowering.registration import register_lowering as register_lowering
from ...lowering.values import (
    aval_to_ir_type as aval_to_ir_type,
    aval_to_ir_types as aval_to_ir_types,
    dense_int_array as dense_int_array,
    dense_int_elements as dense_int_elements,
    dtype_to_ir_type as dtype_to_ir_type,
    flatten_ir_types as flatten_ir_types,
    flatten_ir_values as flatten_ir_values,
    i32_attr as i32_attr,
    i64_attr as i64_attr,
    ir_attribute as ir_attribute,
    ir_constant as ir_constant,
    ir_constants as ir_constants,
    ir_type_handlers as ir_type_handlers,
    register_constant_handler as register_constant_handler,
    shape_tensor as shape_tensor,
    token_type as token_type,
    unflatten_ir_values_like_types as unflatten_ir_values_like_types,
)
from ...lowering.views import lowerings, platform_specific_lowerings
from ...names import home as _home

_lowerings = lowerings  # private in JAX, and the only way to a registered rule
_platform_specific_lowerings = platform_specific_lowerings

DEVICE_TO_DEVICE_TYPE = 1
SEND_TO_HOST_TYPE = 2
RECV_FROM_HOST_TYPE = 3

MeshAxisName = Hashable
LoweringRule = Callable[..., Any]
ConstantHandler = Callable[..., Any]


def make_ir_context() -> Any:
    """A new ``ir.Context`` with every dialect that there is."""
    return _bindings.new_context()


def module_to_string(module: Any, enable_debug_info: bool | None = None) -> str:
    """A module as text."""
    return module.operation.get_asm(enable_debug_info=bool(enable_debug_info))


def module_to_bytecode(module: Any) -> bytes:
    """A module as MLIR's bytecode."""
    from dovetail_xla import mlir

    return mlir.bytecode(module)


def merge_mlir_modules(
    dst_module: Any, sym_name: str, src_module: Any, dst_symtab: Any = None
) -> str:
    """Move a module into another one of its context; returns what its ``main`` is called there."""
    return _bindings.merge(dst_module, sym_name, src_module)


_LAZY: dict[str, Callable[[], Any]] = {
    "ir": _bindings.ir,
    "Value": lambda: _bindings.ir().Value,
    "Token": lambda: _bindings.ir().Value,
    "Mesh": lambda: import_module(_home("jax.sharding")).Mesh,
    "ir_tree_registry": _bindings.tree_registry,
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'jax.interpreters.mlir' has no attribute {name!r}")
    value = globals()[name] = _LAZY[name]()
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_LAZY})
