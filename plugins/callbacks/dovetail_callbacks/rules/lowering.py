"""Lowering of callbacks with high arguments or results to callbacks with their arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dovetail_core import Primitive, low_types, lower_values, raise_values, to_lo_rules, typeof

from ..host import HostFunction
from ..primitives import debug_callback_p, io_callback_p, pure_callback_p


def on_arrays(
    call: Callable[..., Any], args: Any, callback: HostFunction, result_avals: Any, **params: Any
) -> list[Any]:
    """``call`` on the arrays that arguments consist of; its results have the declared types."""
    arrays = lower_values(args, f"requested to call {callback}")
    low = callback.on_arrays([typeof(x) for x in args])
    outs = call(*arrays, callback=low, result_avals=tuple(low_types(result_avals)), **params)
    return raise_values(outs, result_avals)


def _register(primitive: Primitive) -> None:
    @to_lo_rules.register(primitive)
    def _rule(*args: Any, callback: Any, result_avals: Any, **params: Any) -> list[Any]:
        return on_arrays(primitive.bind, args, callback, result_avals, **params)


_register(pure_callback_p)
_register(io_callback_p)


@to_lo_rules.register(debug_callback_p)
def _debug(*args: Any, **params: Any) -> list[Any]:
    def call(*arrays: Any, result_avals: Any, **params: Any) -> list[Any]:
        return debug_callback_p.bind(*arrays, **params)

    return on_arrays(call, args, result_avals=(), **params)
