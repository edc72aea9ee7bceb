"""Python functions that programs call, from rules written with MLIR's bindings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from dovetail_core import callable_name

from .contexts import LoweringRuleContext
from .values import flatten_ir_values


def emit_python_callback(
    ctx: LoweringRuleContext,
    callback: Callable[..., Sequence[Any]],
    token: Any,
    operands: Sequence[Any],
    operand_avals: Sequence[Any],
    result_avals: Sequence[Any],
    *,
    has_side_effect: bool,
    returns_token: bool = True,
    partitioned: bool = False,
    sharding: Any = None,
) -> tuple[list[Any], Any, Any]:
    """A call of a Python function: NumPy arrays in, a sequence of types ``result_avals`` out.

    Args:
        token: that of an ordered effect (of ``ctx.tokens_in``), by which calls are kept in order.
        has_side_effect: it is called even if nothing uses its results.
        partitioned: each device calls it on what it has; for functions without results and order.
        returns_token, sharding: accepted.

    Returns:
        The results, the token after the call, and the function, which the program keeps alive.
    """
    function = ctx.module_context.function
    ordered = token is not None and function.clock is not None
    name = callable_name(callback)

    def write(b: Any, *xs: Any) -> Sequence[Any]:
        effect = has_side_effect or ordered
        how = {"effect": effect, "ordered": ordered, "partitioned": partitioned}
        return b.host_callback(callback, xs, result_avals, name, **how)

    result = function.emit(write, flatten_ir_values(operands), operand_avals, f"call_{name}")
    return result, function.clock if ordered else token, ctx.module_context.host_callbacks[-1]
