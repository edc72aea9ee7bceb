"""Programs and functions lowered where a rule written with MLIR's bindings is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_backends import Builder, ModuleText, Val, module_text
from dovetail_core import (
    ClosedJaxpr,
    Jaxpr,
    callable_name,
    lower_to_lo,
    mutable_values,
    stage_closed,
)
from dovetail_xla import mlir_functions as bindings

from .contexts import LoweringResult, LoweringRuleContext, ModuleContext, TokenSet
from .values import flatten_ir_values


def ready(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program as the builder takes it: of arrays, without mutable values."""
    return mutable_values.discharge(lower_to_lo(program))


class LoweredFunction:
    """A function on arrays as a lowering rule: traced, and its program written."""

    def __init__(self, fun: Callable[..., Any], multiple_results: bool) -> None:
        self.fun = fun
        self.multiple_results = multiple_results
        self.__name__ = callable_name(fun)
        self.__module__ = getattr(fun, "__module__", "?")
        self.__wrapped__ = fun

    def program(self, avals: Sequence[Any], params: dict[str, Any]) -> ClosedJaxpr:
        """The function's program for arguments of these types."""

        def body(*xs: Any) -> list[Any]:
            out = self.fun(*xs, **params)
            return list(out) if self.multiple_results else [out]

        return ready(stage_closed(body, avals, self.__name__))

    def inline(self, b: Any, operands: Sequence[Val], params: dict[str, Any]) -> list[Val]:
        """Emit the function's operations through a builder."""
        return b.inline(self.program([x.aval for x in operands], params), operands)

    def __call__(self, ctx: LoweringRuleContext, *args: Any, **params: Any) -> list[Any]:
        program = self.program(ctx.avals_in, params)
        return call_program(ctx.module_context, self.__name__, program, args)


def lower_fun(fun: Callable[..., Any], multiple_results: bool = True) -> LoweredFunction:
    """The lowering rule that a function on arrays is: ``fun(*args, **params)`` is traced, and what
    it does is written.

    Args:
        multiple_results: whether it returns a sequence of results, or one.
    """
    return LoweredFunction(fun, multiple_results)


def call_program(
    ctx: ModuleContext, name: str, program: ClosedJaxpr, args: Sequence[Any]
) -> list[Any]:
    """The results of a program that becomes a function of the module, and is called here."""
    flat = flatten_ir_values(args)
    return ctx.function.emit(lambda b, *xs: b.inline(program, xs), flat, program.in_avals, name)


def jaxpr_subcomp(
    ctx: ModuleContext,
    jaxpr: Jaxpr,
    name_stack: Any,
    tokens: TokenSet,
    consts_for_constvars: Sequence[Any],
    *args: Any,
    dim_var_values: Sequence[Any] = (),
    const_lowering: Any = None,
    outer_traceback: Any = None,
) -> tuple[list[Any], TokenSet]:
    """The results of a program on values of the module, and the tokens after it."""
    moved = jaxpr.replace(constvars=[], invars=[*jaxpr.constvars, *jaxpr.invars])
    program = ready(ClosedJaxpr(moved))
    args = (*consts_for_constvars, *args)
    return call_program(ctx, jaxpr.name or "fn", program, args), tokens


def core_call_lowering(
    ctx: LoweringRuleContext, *args: Any, name: str, backend: Any = None, call_jaxpr: Any
) -> list[Any]:
    """The lowering rule of a primitive that calls a program: a call of a function of that name."""
    closed = call_jaxpr if isinstance(call_jaxpr, ClosedJaxpr) else ClosedJaxpr(call_jaxpr)
    return call_program(ctx.module_context, name, ready(closed), args)


def lower_jaxpr_to_fun(
    ctx: ModuleContext,
    name: str,
    jaxpr: ClosedJaxpr,
    effects: Sequence[Any] = (),
    *,
    num_const_args: int = 0,
    in_avals: Sequence[Any] | None = None,
    main_function: bool = False,
    **unused: Any,
) -> Any:
    """A program as a function of the module: its ``func.FuncOp``, public if it is the main one.

    Further arguments of JAX, on how the function is placed on devices, are accepted.
    """
    program = ready(jaxpr)
    builder = ctx.function.builder
    text, _ = module_text(builder, lambda b, *xs: b.inline(program, xs), program.in_avals)
    with ctx.context:
        result = bindings.symbol(ctx.module, bindings.merge(ctx.module, name, text))
        if main_function:
            result.attributes["sym_visibility"] = bindings.ir().StringAttr.get("public")
    return result


def lower_jaxpr_to_module(
    module_name: str,
    jaxpr: ClosedJaxpr,
    *,
    num_const_args: int = 0,
    in_avals: Sequence[Any] | None = None,
    ordered_effects: Sequence[Any] = (),
    platforms: Sequence[str] = ("cpu",),
    backend: Any = None,
    axis_context: Any = None,
    donated_args: Sequence[bool] = (),
    lowering_parameters: Any = None,
    **unused: Any,
) -> LoweringResult:
    """A program as a module whose function ``main`` it is; its constants are in the module.

    Further arguments of JAX, on how arguments are placed on devices, are accepted.
    """
    program = ready(jaxpr)
    text = ModuleText(platforms[0])
    write: Any = lambda b, *xs: b.inline(program, xs)  # noqa: E731
    source, _ = module_text(Builder(text), write, program.in_avals, module_name)
    with bindings.new_context() as context:
        module = bindings.ir().Module.parse(source, context)
    return LoweringResult(module, None, text.callbacks, _no_open_sizes())


def _no_open_sizes() -> Any:
    from .contexts import ShapePolyLoweringState

    return ShapePolyLoweringState()
